#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <muster/base/copy_bytes.hpp>
#include <muster/base/stream_copy.hpp>
#include <muster/progress/ticks.hpp>
#include <muster/team/learnt_cost.hpp>

namespace muster {

/// A copy by ordinary or by streaming stores, whichever took this core less time lately.
///
/// Ordinary stores fetch each line first, from memory or from the cache of its last reader, and
/// leave it in this core's cache, from where the next reader gets it fast, if their cores share a
/// cache. Streaming stores go past the caches and wait for nothing. Which is faster depends on
/// where the lines are: into a stage, on whether its reader's core shares a cache with this one;
/// into a result, on whether the program's data stays in the caches. The system moves ranks, hosts
/// move virtual processors, and programs go from one part to the next: so the other way is tried
/// again every few milliseconds.
class timed_copy {
public:
  void operator()(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    constexpr std::size_t least_timed = 4 * 1024;
    if (bytes < least_timed) return copy_by(better_, to, from, bytes);
    const std::uint64_t begin = count_ticks();
    const way now = is_due(other(better_), begin) ? other(better_) : better_;
    copy_by(now, to, from, bytes);
    const std::uint64_t end = count_ticks();
    learn(now, end, static_cast<double>(end - begin) / static_cast<double>(bytes));
  }

private:
  enum way : std::size_t { ordinary, streaming };

  static way other(way one) noexcept { return one == ordinary ? streaming : ordinary; }
  static void copy_by(way how, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (how == streaming) {
      stream_copy(to, from, bytes);
    } else {
      copy_bytes(to, from, bytes);
    }
  }
  bool is_due(way how, std::uint64_t now) noexcept {
    constexpr std::uint64_t ticks_between_tries = std::uint64_t{1} << 23;  // some 3 ms
    // At first more often: the first copies go to pages that were never touched, and tell nothing.
    constexpr unsigned first_copies = 64;
    constexpr unsigned try_every = 4;
    const bool is_early = copies_ < first_copies && copies_++ % try_every == 0;
    return is_early || now - known_[how].tried > ticks_between_tries;
  }
  void learn(way tried, std::uint64_t now, double ticks_per_byte) noexcept {
    known_[tried].tried = now;
    known_[tried].cost.learn(ticks_per_byte);
    // Whoever reads what was streamed finds it in memory, and pays there for some of what is saved
    // here. Between cores that share a cache streaming takes three quarters at best.
    constexpr double clearly = 0.7;
    const double limit = clearly * known_[ordinary].cost.value();
    better_ = known_[streaming].cost.value() < limit ? streaming : ordinary;
  }

  struct known {
    learnt_cost cost;  // ticks a byte
    std::uint64_t tried = 0;
  };

  way better_ = ordinary;
  unsigned copies_ = 0;  // the first ones
  std::array<known, 2> known_;
};

/// Those of one kind: one for each power of two of a size that says where the lines are.
class timed_copies {
public:
  explicit timed_copies(std::size_t least) noexcept : least_(least) {}

  /// Null for less than the least: that is copied by ordinary stores.
  timed_copy* of(std::size_t bytes) noexcept {
    if (bytes < least_) return nullptr;
    const std::size_t power = std::bit_width(bytes / least_) - 1;
    return &by_size_[std::min(power, by_size_.size() - 1)];
  }

private:
  std::size_t least_;
  std::array<timed_copy, 8> by_size_;
};

/// Into a stage, by the length of a piece.
struct copies_to_stage : timed_copies {
  copies_to_stage() noexcept : timed_copies(8 * 1024) {}
};
/// Into results, by what the ranks of a node receive together.
struct copies_to_results : timed_copies {
  copies_to_results() noexcept : timed_copies(512 * 1024) {}
};

}  // namespace muster
