// Reduce over nodes, item by item.
//
//  1  the ranks of a node stage their contributions; the leader combines them with its own
//  2  the leaders combine their nodes' results over a binomial tree towards the first node
//  3  the first leader hands the result to the root, if that is another rank
//
// ⌈log2 n⌉ steps between nodes. Everything is combined in node order, and in rank order inside a
// node, whatever the root: the bits of the result do not depend on it.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.2, 2.4).

#include "algos/algorithms.hpp"
#include "algos/patterns/leaders.hpp"
#include "algos/patterns/node_reduce.hpp"
#include "algos/patterns/reduce_slices.hpp"
#include "algos/patterns/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const std::size_t first = leader_of(me.shape(), 0);
  const items cut(call.bytes(), 1, items::in_step, call.grain());
  track in(me, 0, cut);
  me.arrive();
  if (!is_leader(me)) in.lend(call.contribution(), track::lending::for_loads);
  const std::span<std::byte> partial =
      me.scratch(is_leader(me) ? std::min(cut.piece, call.bytes()) : 0);
  for (std::size_t k = 0; k < cut.count(); ++k) {
    const std::span<std::byte> sum = {partial.data(), is_leader(me) ? cut.length(k) : 0};
    if (is_leader(me)) {
      co_await combine_node(me, in, call.contribution(), k, sum);
      co_await leaders_reduce(me, sum);
    } else {
      co_await contribute(me, in, call.contribution(), k, 0);
    }
    if (me.rank() == first && me.rank() != call.root) co_await me.deliver(call.root, sum);
    if (me.rank() != call.root) continue;
    const auto place = call.result().subspan(cut.offset(k), cut.length(k));
    if (me.rank() == first) {
      co_await me.copy(place, sum);
    } else {
      co_await me.expect(first, place);
    }
  }
  co_await in.returned(0);
}

}  // namespace

const algorithm reduce_srm = {
    .id = "srm",
    .what = collective::reduce,
    .summary = "node leaders combine their node, then each other over a binomial tree",
    .source = "SRM 2.4",
    .needs = "a reduction that commutes, or nodes of consecutive ranks",
    .suits = combines_by_node,
    .stages = track_stages,
    .run = run,
};

}  // namespace muster::algos
