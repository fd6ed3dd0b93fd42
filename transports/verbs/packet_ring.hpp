#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::verbs {

/// Memory in which the packets of a stream go round.
struct packet_ring {
  std::byte* base;
  std::size_t capacity;  ///< a power of two

  std::byte* at(std::uint64_t position) const noexcept { return base + position % capacity; }
};

}  // namespace muster::verbs
