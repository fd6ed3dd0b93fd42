#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <muster/call/arguments.hpp>
#include <muster/team/learnt_cost.hpp>
#include <muster/team/machine.hpp>

namespace muster {

/// Whether long blocks are staged, or lent to the kernels of their readers: whichever made
/// operations of a collective and size shorter lately.
///
/// How fast one core copies while the others rest does not say how fast all copy at once. That
/// depends on how far apart their caches are, and on how much the memory between them carries. So
/// both ways are tried. All ranks of a node count the same calls, and try the same way in the same
/// one: how long an operation takes is the doing of all.
class timed_lending {
public:
  enum class way : std::uint8_t { staged, lent };
  struct choice {
    way how;
    bool is_trial;  ///< how long it takes is to be learnt
  };

  /// For the next operation.
  /// \param usual what is taken until both are known, and when there is little between them
  choice next(way usual) noexcept {
    const std::uint32_t call = calls_++;
    if (call < untimed_calls) return {usual, false};
    const std::uint32_t timed = call - untimed_calls;
    if (timed < first_trials) return {timed % 2 == 0 ? way::staged : way::lent, true};
    const std::uint32_t every = timed < early_calls ? early_calls_between : calls_between_trials;
    if (timed % every == 0) return {way::staged, true};
    if (timed % every == every / 2) return {way::lent, true};
    return {better(usual), false};
  }
  /// What a trial has taken, in any unit.
  void learn(way tried, double cost) noexcept { costs_[index(tried)].learn(cost); }
  bool knows_both() const noexcept { return costs_[0].is_known() && costs_[1].is_known(); }

private:
  static constexpr std::uint32_t untimed_calls = 4;  // memory is touched for the first time
  static constexpr std::uint32_t first_trials = 6;
  static constexpr std::uint32_t calls_between_trials = 64;
  // Programs that rotate buffers touch some of them for the first time after the first trials.
  static constexpr std::uint32_t early_calls = 256;
  static constexpr std::uint32_t early_calls_between = 16;

  static std::size_t index(way one) noexcept { return static_cast<std::size_t>(one); }
  way better(way usual) const noexcept {
    constexpr double clearly = 0.9;
    const way other = usual == way::staged ? way::lent : way::staged;
    const double limit = clearly * costs_[index(usual)].value();
    return knows_both() && costs_[index(other)].value() < limit ? other : usual;
  }

  std::array<learnt_cost, 2> costs_;
  std::uint32_t calls_ = 0;
};

/// One for each collective, and power of two of a block's length.
class timed_lendings {
public:
  /// \param block_bytes at least `machine::least_unstaged_bytes`
  timed_lending& of(collective what, std::size_t block_bytes) noexcept {
    const auto power = std::bit_width(block_bytes / machine::least_unstaged_bytes);
    const std::size_t size = std::min<std::size_t>(static_cast<std::size_t>(power) - 1, sizes - 1);
    return all_[static_cast<std::size_t>(what)][size];
  }

private:
  static constexpr std::size_t sizes = 12;
  std::array<std::array<timed_lending, sizes>, collectives> all_;
};

}  // namespace muster
