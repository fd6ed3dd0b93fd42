// The buffers of all ranks for one collective, with contents or without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/call/arguments.hpp>

#include "tools/command/bench/buffers.hpp"
#include "tools/command/bench/pattern.hpp"
#include "tools/command/bench/uniform_blocks.hpp"
#include "tools/command/sim/plan.hpp"

namespace muster::simulator {

/// Doubles, of the pattern that `muster bench` checks. Without payload they are addresses that no
/// memory has.
class call_buffers {
public:
  call_buffers(const point& at, std::size_t ranks, bool payload);
  call_buffers(const call_buffers&) = delete;
  call_buffers& operator=(const call_buffers&) = delete;

  /// What the buffers of all ranks take with payload.
  static std::size_t bytes(const point& at, std::size_t ranks);

  arguments call_of(std::size_t rank) const;
  /// Fills in what the rank sends in call `number`; poisons what it receives.
  void prepare(std::size_t rank, std::size_t number);
  /// Whether the rank received what it should have, and its own contribution is as it was.
  bool is_right(std::size_t rank, std::size_t number);

private:
  bench::call_shape shape_of(std::size_t rank) const;
  bench::checked_call checked(std::size_t rank, std::size_t number) const;
  std::uintptr_t send_address(std::size_t rank) const;
  std::uintptr_t receive_address(std::size_t rank) const;
  std::span<double> send(std::size_t rank) const;
  std::span<double> receive(std::size_t rank) const;
  bool sums() const;
  /// The result of call `number` of a reduction: computed once for all ranks.
  std::span<const double> expected_sums(std::size_t number);

  collective what_;
  std::size_t ranks_;
  std::size_t words_;
  bench::uniform_blocks<std::size_t> blocks_;  // of collectives whose blocks vary
  block_layout layout_;
  std::vector<double> memory_;  // empty without payload
  std::vector<double> sums_;
  std::size_t sums_of_ = ~std::size_t{0};
};

}  // namespace muster::simulator
