// The page on what came of the papers' claims.
#pragma once

#include <span>
#include <string>

#include "tools/study/reproduce/claim.hpp"

namespace muster::reproduce {

/// Markdown: the table of claims, then the figures.
std::string page(std::span<const outcome> outcomes, std::span<const experiment> figures);

/// `37 of 50 claims hold, of 5 more the order does, 8 do not come out`
std::string summary(std::span<const outcome> outcomes);

/// A claim in a line, for terminals.
std::string line(const outcome& one);

}  // namespace muster::reproduce
