// What was found, on a page for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/library/why/analysis.hpp"
#include "tools/library/why/snapshot.hpp"

namespace muster::why {

/// \param reason for which it was looked
/// \param ranks  as for `judge`
std::string page(std::string_view reason, std::span<const seen_rank> ranks);

/// "0-2, 5"
std::string list_of(std::span<const std::uint64_t> ranks);

}  // namespace muster::why
