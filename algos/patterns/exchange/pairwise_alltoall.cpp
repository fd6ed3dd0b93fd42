#include "algos/patterns/exchange/pairwise_alltoall.hpp"

#include <cstddef>
#include <utility>

#include "algos/patterns/call/outgoing_blocks.hpp"
#include "algos/patterns/exchange/send_and_receive.hpp"

namespace muster::algos {

task<> pairwise_alltoall(context& me, const arguments& call) {
  const outgoing_blocks blocks(me, call);
  me.arrive();
  co_await me.copy(call.received_from(me.rank()), blocks[me.rank()]);
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t to = (me.rank() + step) % me.size();
    const std::size_t from = (me.rank() + me.size() - step) % me.size();
    co_await send_and_receive(me, to, blocks[to], from, call.received_from(from));
  }
}

}  // namespace muster::algos
