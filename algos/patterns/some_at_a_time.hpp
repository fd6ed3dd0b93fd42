#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/collective/context.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {

/// `transfer(rank)` with every `stride`-th rank after this one, from the `first` on, one after the
/// other.
template <class Transfer>
task<> transfer_in_turn(context& me, const Transfer& transfer, std::size_t first,
                        std::size_t stride) {
  for (std::size_t step = first; step < me.size(); step += stride) {
    co_await transfer((me.rank() + step) % me.size());
  }
}

/// `transfer(rank)`, a task, with every other rank, so many at a time, so that one that is late
/// does not hold up all.
template <class Transfer>
task<> transfer_with_all(context& me, Transfer transfer, std::size_t at_once = 4) {
  at_once = std::min(at_once, me.size());
  std::vector<task<>> all;
  for (std::size_t first = 1; first <= at_once; ++first) {
    all.push_back(transfer_in_turn(me, transfer, first, at_once));
  }
  co_await when_all(std::move(all));
}

}  // namespace muster::algos
