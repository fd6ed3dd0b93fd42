#pragma once

#include <chrono>

namespace muster::testing {

/// From here on this process's wall clock is ahead by so much, or behind. Its steady clock is not.
void set_wall_clock(std::chrono::seconds ahead) noexcept;

}  // namespace muster::testing
