#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <muster/coro/when_all.hpp>
#include <muster/run/context.hpp>

#include "algos/patterns/exchange/peers.hpp"

namespace muster::algos {

/// A transfer that was called, then `transfer(rank)` with every `apart`-th of the ranks, from
/// number `next` on, one after the other.
template <class Transfer>
task<> transfer_in_turn(task<> first, std::span<const std::size_t> ranks, std::size_t next,
                        std::size_t apart, const Transfer& transfer) {
  co_await std::move(first);
  for (std::size_t i = next; i < ranks.size(); i += apart) co_await transfer(ranks[i]);
}

/// The same for all of the ranks, so many at a time.
template <class Transfer>
task<> transfer_after(task<> first, std::span<const std::size_t> ranks, std::size_t at_a_time,
                      Transfer transfer) {
  pooled_list<task<>> turns;
  const std::size_t others = std::min(at_a_time - 1, ranks.size());
  turns.push_back(transfer_in_turn(std::move(first), ranks, others, at_a_time, transfer));
  for (std::size_t i = 0; i < others; ++i) {
    turns.push_back(
        transfer_in_turn(transfer(ranks[i]), ranks, i + at_a_time, at_a_time, transfer));
  }
  co_await when_all(std::move(turns));
}

/// `transfer(rank)`, a task, with each of the ranks in their order, so many at a time, so that one
/// that is late does not hold up all. Those that are complete when called take no turn.
template <class Transfer>
task<> transfer_with(std::span<const std::size_t> ranks, std::size_t at_a_time, Transfer transfer) {
  task<> next;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    next = transfer(ranks[i]);
    if (next.ended_well_at_once()) continue;
    return transfer_after(std::move(next), ranks.subspan(i + 1), at_a_time, std::move(transfer));
  }
  return next ? std::move(next) : when_all(pooled_list<task<>>());
}

/// The same with every other rank.
template <class Transfer>
task<> transfer_with_all(context& me, Transfer transfer, std::size_t at_a_time = 4) {
  const pooled_list<std::size_t> others = ranks_after(me);
  co_await transfer_with(others, at_a_time, std::move(transfer));
}

}  // namespace muster::algos
