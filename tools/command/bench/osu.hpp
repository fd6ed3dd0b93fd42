// The benchmark's results in the form of the OSU micro-benchmarks, for programs that read those.
#pragma once

#include <span>
#include <string>

#include "tools/command/bench/measurement.hpp"

namespace muster::bench {

/// One collective at one rank count, as `osu_allreduce` and its like print it: a block a library,
/// or algorithm of ours, with lines of bytes and microseconds; a barrier has the latter alone.
/// Lines that begin with # say what was measured. What has no right figures is left out, and a
/// line with # says so.
std::string osu_blocks(std::span<const measurement> all, collective what, std::size_t ranks);

}  // namespace muster::bench
