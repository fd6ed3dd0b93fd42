#pragma once

#include <cstddef>

namespace muster::wire {

inline constexpr std::size_t cache_line = 64;

}  // namespace muster::wire
