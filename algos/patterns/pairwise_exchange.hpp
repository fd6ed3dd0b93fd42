#pragma once

#include <cstddef>
#include <span>

#include "engine/collective/context.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {

/// N-1 steps: in step s this rank sends `given(r+s)` to rank r+s and receives the block of rank
/// r-s. Its own it copies first.
template <class Given>
task<> exchange_pairwise(context& me, const arguments& call, Given given) {
  co_await me.copy(call.received_from(me.rank()), given(me.rank()));
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t to = (me.rank() + step) % me.size();
    const std::size_t from = (me.rank() + me.size() - step) % me.size();
    auto outgoing = me.deliver(to, given(to));
    auto incoming = me.expect(from, call.received_from(from));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

}  // namespace muster::algos
