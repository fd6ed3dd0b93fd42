// The simulator's plot: one self-contained SVG, or that SVG in an HTML page.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tools/sim/plan.hpp"

namespace muster::simulator {

/// A panel a collective, of time against size, with a line an algorithm; barriers as bars. HTML if
/// the file's name says so.
std::string draw_plot(const std::filesystem::path& file, const job& how,
                      std::span<const result> all);

}  // namespace muster::simulator
