// Allreduce over nodes, item by item.
//
//  1  the ranks of a node stage their contributions; the leader combines them with its own
//  2  the leaders combine their nodes' results by recursive doubling
//  3  the leader stages the result
//  4  the other ranks of its node copy it out
//
// ⌈log2 n⌉ exchanges between nodes. A rank contributes and collects at the same time, so that items
// follow each other through the four stages.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.4, figure 5), with recursive doubling at every size.

#include "algos/algorithms.hpp"
#include "algos/patterns/leaders.hpp"
#include "algos/patterns/node_reduce.hpp"
#include "algos/patterns/reduce_slices.hpp"
#include "algos/patterns/suitability.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

task<> lead(context& me, const arguments& call, track& in, track& out) {
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    const auto place = call.result().subspan(in.cut().offset(k), in.cut().length(k));
    co_await combine_node(me, in, call.contribution(), k, place);
    co_await leaders_allreduce(me, place);
    std::byte* room = co_await out.room(k);
    co_await me.copy({room, place.size()}, place);
    out.post(k);
  }
}

task<> contribute_all(context& me, const arguments& call, track& in) {
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    co_await contribute(me, in, call.contribution(), k, 0);
  }
}

task<> collect_all(context& me, const arguments& call, track& out) {
  co_await me.read(0, 0);
  for (std::size_t k = 0; k < out.cut().count(); ++k) {
    co_await out.arrived(0, k);
    co_await out.copy(0, k, 0, call.result());
    out.take(k);
  }
}

task<> run(context& me, const arguments& call) {
  const items cut(call.bytes(), 1, items::in_step, call.grain());
  track in(me, 0, cut);
  track out(me, 1, cut);
  me.arrive();
  if (is_leader(me)) {
    co_await lead(me, call, in, out);
    if (call.count == 0) co_await leaders_barrier(me);
    co_return;
  }
  // In place, an item's result may overwrite its contribution: it comes only after that was read.
  in.lend(call.contribution(), track::lending::for_loads);
  auto outgoing = contribute_all(me, call, in);
  auto incoming = collect_all(me, call, out);
  co_await when_all(std::move(outgoing), std::move(incoming));
  co_await in.returned(0);
}

}  // namespace

const algorithm allreduce_srm = {
    .id = "srm",
    .what = collective::allreduce,
    .summary = "node reduce, recursive doubling between leaders, node broadcast",
    .source = "SRM 2.4",
    .needs = "a reduction that commutes, or nodes of consecutive ranks",
    .suits = combines_by_node,
    .stages = track_stages,
    .run = run,
};

}  // namespace muster::algos
