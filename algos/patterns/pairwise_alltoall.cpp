#include "algos/patterns/pairwise_alltoall.hpp"

#include <cstddef>
#include <utility>

#include "algos/patterns/outgoing_blocks.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {

task<> pairwise_alltoall(context& me, const arguments& call) {
  const outgoing_blocks blocks(me, call);
  me.arrive();
  co_await me.copy(call.received_from(me.rank()), blocks[me.rank()]);
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t to = (me.rank() + step) % me.size();
    const std::size_t from = (me.rank() + me.size() - step) % me.size();
    auto outgoing = me.deliver(to, blocks[to]);
    auto incoming = me.expect(from, call.received_from(from));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

}  // namespace muster::algos
