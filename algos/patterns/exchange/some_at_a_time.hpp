#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <muster/coro/when_all.hpp>
#include <muster/run/context.hpp>

#include "algos/patterns/exchange/peers.hpp"

namespace muster::algos {

/// `transfer(rank)` with every `apart`-th of the ranks, from number `first` on, one after the
/// other.
template <class Transfer>
task<> transfer_in_turn(std::span<const std::size_t> ranks, std::size_t first, std::size_t apart,
                        const Transfer& transfer) {
  for (std::size_t i = first; i < ranks.size(); i += apart) co_await transfer(ranks[i]);
}

/// `transfer(rank)`, a task, with each of the ranks in their order, so many at a time, so that one
/// that is late does not hold up all.
template <class Transfer>
task<> transfer_with(std::span<const std::size_t> ranks, std::size_t at_a_time, Transfer transfer) {
  pooled_list<task<>> turns;
  for (std::size_t first = 0; first < std::min(at_a_time, ranks.size()); ++first) {
    turns.push_back(transfer_in_turn(ranks, first, at_a_time, transfer));
  }
  co_await when_all(std::move(turns));
}

/// The same with every other rank.
template <class Transfer>
task<> transfer_with_all(context& me, Transfer transfer, std::size_t at_a_time = 4) {
  const pooled_list<std::size_t> others = ranks_after(me);
  co_await transfer_with(others, at_a_time, std::move(transfer));
}

}  // namespace muster::algos
