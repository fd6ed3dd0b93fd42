// One point, simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tools/command/sim/plan.hpp"

namespace muster::simulator {

/// The most that all ranks' buffers may take for them to hold something.
inline constexpr std::size_t most_payload_bytes = std::size_t{1} << 30;

/// Before each call all ranks meet, at no cost; then each is as late as the job says. A rank's time
/// is from then until its own call is done. A call's time is the slowest rank's, or, where ranks
/// come late, the mean over the ranks. `progress` is told now and then how many events there were.
/// What goes wrong is in the result.
result run_point(const job& how, const point& at,
                 const std::function<void(std::uint64_t)>& progress);

}  // namespace muster::simulator
