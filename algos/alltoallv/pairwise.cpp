// Pairwise alltoall of blocks of any lengths between any ranks.
//
//  for s = 1 … N-1: send to rank r+s its block and receive that of rank r-s, at once
//
// N-1 steps of one message each way, an empty one where there is nothing to send.
//
// Source: the direct algorithm of Qian 2010 (3.4.4) with one port; shifts take the place of XOR so
// that N need not be a power of two.

#include "algos/algorithms.hpp"
#include "algos/patterns/suitability.hpp"
#include "engine/collective/context.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  pooled<std::span<const std::byte>> gives(me.size());
  for (std::size_t to = 0; to < me.size(); ++to) gives[to] = call.sent_to(to);
  me.arrive();
  // In place, blocks must leave before others come: they are moved aside first.
  if (call.in_place()) me.set_aside(gives);
  co_await me.copy(call.received_from(me.rank()), gives[me.rank()]);
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t to = (me.rank() + step) % me.size();
    const std::size_t from = (me.rank() + me.size() - step) % me.size();
    auto outgoing = me.deliver(to, gives[to]);
    auto incoming = me.expect(from, call.received_from(from));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

}  // namespace

const algorithm alltoallv_pairwise = {
    .id = "pairwise",
    .what = collective::alltoallv,
    .summary = "in step s to the rank s further on and from the one s back",
    .source = "Qian 3.4.4",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
