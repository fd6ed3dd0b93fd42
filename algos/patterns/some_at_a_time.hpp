#pragma once

#include <cstddef>

#include "engine/collective/context.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {

/// `transfer(rank)` with every fourth rank after this one, from the `first` on, one after the
/// other.
template <class Transfer>
task<> transfer_in_turn(context& me, const Transfer& transfer, std::size_t first) {
  for (std::size_t step = first; step < me.size(); step += 4) {
    co_await transfer((me.rank() + step) % me.size());
  }
}

/// `transfer(rank)`, a task, with every other rank, four at a time, so that one that is late does
/// not hold up all.
template <class Transfer>
task<> transfer_with_all(context& me, Transfer transfer) {
  auto first = transfer_in_turn(me, transfer, 1);
  auto second = transfer_in_turn(me, transfer, 2);
  auto third = transfer_in_turn(me, transfer, 3);
  auto fourth = transfer_in_turn(me, transfer, 4);
  co_await when_all(std::move(first), std::move(second), std::move(third), std::move(fourth));
}

}  // namespace muster::algos
