#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/wire/board.hpp>

#include "transports/shm/arena.hpp"

namespace muster::shm {

/// The first line of a lot: how many of its users have not left it yet, and one more for what the
/// last of them does there.
struct alignas(wire::cache_line) lot_head {
  std::atomic<std::uint32_t> users;
};

/// Memory that one rank lets to several, itself perhaps among them, and gets back when all of them
/// have left. Users leave without a word to the owner, who looks from time to time.
class lots {
public:
  explicit lots(std::span<std::byte> memory) : arena_(memory) {}

  /// Lets `bytes` to so many users: zeroed, but for the head in which it begins.
  /// \throws error `errc::resource` when no free stretch is long enough.
  std::span<std::byte> let(std::size_t bytes, std::size_t users);
  /// Takes back a lot of which nobody was told.
  void withdraw(const std::byte* lot) noexcept;

  /// A user leaves. `clean_up()` is called by the last one, before the owner may have it back.
  template <class CleanUp>
  static void leave(std::byte* lot, CleanUp clean_up) noexcept {
    std::atomic<std::uint32_t>& users = reinterpret_cast<lot_head*>(lot)->users;
    // acq_rel: what the others did there comes before the cleaning up and the next use.
    if (users.fetch_sub(1, std::memory_order_acq_rel) != 2) return;
    clean_up();
    users.store(0, std::memory_order_release);
  }

private:
  /// Takes back those that all have left, among the next `most` in turn.
  void collect(std::size_t most) noexcept;
  void take_back(std::size_t index) noexcept;

  arena arena_;
  std::vector<std::span<std::byte>> let_;
  std::size_t next_ = 0;  // to look at
};

}  // namespace muster::shm
