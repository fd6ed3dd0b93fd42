#include "algos/patterns/rings/ring_allgather.hpp"

#include <muster/coro/when_all.hpp>

namespace muster::algos {

task<> ring_allgather(context& me, const arguments& call) {
  const std::size_t right = (me.rank() + 1) % me.size();
  const std::size_t left = (me.rank() + me.size() - 1) % me.size();
  const auto block_back = [&](std::size_t steps) {
    return call.received_from((me.rank() + me.size() - steps) % me.size());
  };
  me.arrive();
  // One step ahead, so that the left one need not wait for it.
  if (me.size() > 1) co_await me.invite(left, block_back(1));
  co_await me.copy(block_back(0), call.own_block(me.rank()));
  for (std::size_t step = 1; step < me.size(); ++step) {
    if (step + 1 < me.size()) co_await me.invite(left, block_back(step + 1));
    auto outgoing = me.send(right, block_back(step - 1));
    auto incoming = me.receive(left, block_back(step));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

}  // namespace muster::algos
