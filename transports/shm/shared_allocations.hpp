#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/wire/board.hpp>

#include "transports/shm/arena.hpp"
#include "transports/shm/segment.hpp"

namespace muster::shm {

/// The first line of an allocation: how many of its users have not released it yet, and one more
/// for what the last of them does there.
struct alignas(wire::cache_line) allocation_head {
  std::atomic<std::uint32_t> users;
};

/// Memory that one rank allocates for several, itself perhaps among them, counted by references: it
/// is free when all of them have released it. They do so without a word to the owner, who looks
/// from time to time.
class shared_allocations {
public:
  explicit shared_allocations(segment_part memory) : memory_(*memory.of), arena_(memory.bytes) {}

  /// Allocates `bytes` for so many users: zeroed, but for the head in which they begin.
  /// \throws error `errc::resource` when no free stretch is long enough.
  std::span<std::byte> allocate(std::size_t bytes, std::size_t users);
  /// Frees an allocation of which nobody was told.
  void withdraw(const std::byte* allocation) noexcept;

  /// A user is done. `clean_up()` is called by the last one, before the owner may have it back.
  template <class CleanUp>
  static void release(std::byte* allocation, CleanUp clean_up) noexcept {
    std::atomic<std::uint32_t>& users = reinterpret_cast<allocation_head*>(allocation)->users;
    // acq_rel: what the others did there comes before the cleaning up and the next use.
    if (users.fetch_sub(1, std::memory_order_acq_rel) != 2) return;
    clean_up();
    users.store(0, std::memory_order_release);
  }

private:
  /// Frees those that all have released, among the next `most` in turn.
  void collect(std::size_t most) noexcept;
  void free(std::size_t index) noexcept;

  const segment& memory_;
  arena arena_;
  std::vector<std::span<std::byte>> allocated_;
  std::size_t next_ = 0;  // to look at
};

}  // namespace muster::shm
