// The benchmark's plot: one self-contained SVG, or that SVG in an HTML page.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tools/bench/measurement.hpp"

namespace muster::bench {

/// Panels of time against size, with 10–90 % bands, the least that the machine allows and the ratio
/// below, a collective and rank count each; barriers as bars; and the geometric means of the ratio.
/// HTML if the file's name says so.
std::string draw_plot(const std::filesystem::path& file, std::span<const measurement> all,
                      const surroundings& about);

}  // namespace muster::bench
