// Reduce over nodes, segment by segment.
//
//  1  the ranks of a node lend or stage their contributions. Short ones the leader combines with
//     its own; of long ones each rank of a binomial tree combines what is right below it
//  2  the leaders combine their nodes' results over a binomial tree towards the first node, while
//     they combine the next segment of their nodes
//  3  the first leader hands the result to the root, if that is another rank
//
// ⌈log2 n⌉ steps between nodes. Inside a node whatever can be read where it is is not copied:
// leaves of the tree alone may have to copy. For short contributions one pass over all inputs takes
// the place of the paper's tree: their lines travel at the same time, not level by level. Long ones
// are cut into segments of 16 to 64 KiB, one behind the other on their way through both trees.
// Everything is combined in node order, and in rank order inside a node, whatever the root: the
// bits of the result do not depend on it.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.2, 2.4).

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/leaders.hpp"
#include "algos/patterns/node/node_reduce.hpp"
#include "algos/patterns/trees/node_tree.hpp"

namespace muster::algos {
namespace {

bool is_short(const arguments& call) { return call.bytes() <= 256; }

segments cut_for(const arguments& call) {
  constexpr std::size_t kib = 1024;
  const std::size_t segment_bytes = std::clamp(call.bytes() / 16, 16 * kib, 64 * kib);
  segments cut(call.bytes(), 1, segments::in_step, call.grain());
  cut.piece =
      std::max(std::min(cut.piece, segment_bytes) / call.grain() * call.grain(), call.grain());
  return cut;
}

struct reducing {
  context& me;
  const arguments& call;
  node_tree below;  // of long ones
  pipeline in;
  // A leader's:
  std::span<std::byte> partials;  // for two segments
  std::span<std::byte> room;      // for those of the leaders right below

  reducing(context& me, const arguments& call)
      : me(me), call(call), below(me), in(me, 0, cut_for(call)) {
    if (!is_leader(me)) return;
    const std::size_t longest = std::min(in.cut().piece, call.bytes());
    partials = me.scratch(2 * longest);
    room = room_for_leaders_below(me, longest);
  }

  std::size_t count() const { return in.cut().count(); }
  std::size_t first() const { return leader_of(me.shape(), 0); }
  std::span<std::byte> partial(std::size_t k) const {
    return partials.subspan(k % 2 * (partials.size() / 2), in.cut().length(k));
  }
  std::span<std::byte> place(std::size_t k) const {
    return call.result().subspan(in.cut().offset(k), in.cut().length(k));
  }
};

task<> combine_own_node(reducing& of, std::size_t k) {
  if (k >= of.count()) co_return;
  if (is_short(of.call)) {
    co_await combine_node(of.me, of.in, of.call.contribution(), k, of.partial(k));
  } else {
    co_await of.below.combine(of.in, of.call.contribution(), k, of.partial(k));
  }
}

task<> contribute_own(reducing& of) {
  if (is_short(of.call)) return contribute_to_leader(of.me, of.call, of.in);
  return of.below.contribute_all(of.in, of.call.contribution());
}

task<> combine_nodes(reducing& of, std::size_t k) {
  co_await leaders_reduce(of.me, of.partial(k), of.room);
  if (of.me.rank() != of.first()) co_return;
  if (of.me.rank() == of.call.root) {
    co_await of.me.copy(of.place(k), of.partial(k));
  } else {
    co_await of.me.send(of.call.root, of.partial(k));
  }
}

task<> lead(reducing& of) {
  co_await combine_own_node(of, 0);
  for (std::size_t k = 0; k < of.count(); ++k) {
    auto between_nodes = combine_nodes(of, k);
    auto inside = combine_own_node(of, k + 1);
    co_await when_all(std::move(between_nodes), std::move(inside));
  }
}

task<> receive_result(reducing& of) {
  if (of.me.rank() != of.call.root || of.me.rank() == of.first()) co_return;
  for (std::size_t k = 0; k < of.count(); ++k) co_await of.me.expect(of.first(), of.place(k));
}

task<> run(context& me, const arguments& call) {
  reducing of(me, call);
  me.arrive();
  auto given = is_leader(me) ? lead(of) : contribute_own(of);
  auto received = receive_result(of);
  co_await when_all(std::move(given), std::move(received));
}

}  // namespace

const algorithm reduce_srm = {
    .id = "srm",
    .what = collective::reduce,
    .summary = "nodes combine, long vectors over a tree, then their leaders over another",
    .source = "SRM 2.4",
    .needs = "a reduction that commutes, or nodes of consecutive ranks",
    .suits = combines_by_node,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
