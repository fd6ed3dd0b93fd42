// Broadcast over nodes, piece by piece.
//
//  1  on each node one rank speaks: the root on its own node, the leader elsewhere; these form a
//     binomial tree between nodes, rooted at the root's node
//  2  each speaker receives a piece from its parent and passes it on to its children
//  3  the other ranks of the node copy it out of the speaker's stage, or on the root's node
//     straight from its buffer where they can
//
// A short message comes straight into the stage, for all of the node at once; of 8 to 32 KiB in
// chunks of 4 KiB, one behind the other, and of 16 KiB up to 64 KiB. A long one goes past all
// stages into the speaker's memory in pieces of 64 KiB, and the node's part follows a piece behind,
// while the next comes.
//
// ⌈log_{k+1} n⌉ steps between nodes, as many as a tree that ignores them would need there.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.1, 2.2, 2.4).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/node/leaders.hpp"
#include "algos/patterns/node/node_broadcast.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

std::size_t speaker_of(const context& me, std::size_t node) {
  const std::size_t root = me.call().root;
  return node == me.shape().node_of(root) ? root : leader_of(me.shape(), node);
}

segments cut_for(const arguments& call) {
  constexpr std::size_t kib = 1024;
  segments cut(call.bytes(), 1, segments::far);
  if (call.bytes() > 8 * kib) cut.piece = call.bytes() < 32 * kib ? 4 * kib : 16 * kib;
  if (call.bytes() > 64 * kib) cut.piece = 64 * kib;
  return cut;
}

void place_in_tree(node_broadcast& in) {
  const context& me = in.me;
  const binomial_tree nodes(me.shape().nodes(), me.shape().node_of(in.call.root), node_number(me),
                            ports_of(in.me));
  if (!nodes.is_root()) in.parent = speaker_of(me, nodes.parent());
  for (std::size_t distance = nodes.first_distance(); distance != 0;
       distance = nodes.next_distance(distance)) {
    auto& level = in.children.emplace_back();
    for (const auto& child : nodes.children(distance)) {
      level.push_back(speaker_of(me, nodes.number_of(child.member)));
    }
  }
}

task<> run(context& me, const arguments& call) {
  node_broadcast in(me, call, cut_for(call));
  const std::size_t speaker = speaker_of(me, node_number(me));
  me.arrive();
  if (me.rank() != speaker) {
    co_await listen(in, me.shape().index_of(speaker));
    co_return;
  }
  place_in_tree(in);
  co_await speak(in);
}

}  // namespace

const algorithm bcast_srm = {
    .id = "srm",
    .what = collective::bcast,
    .summary = "a tree between nodes, shared stages inside",
    .source = "SRM 2.4",
    .has_ports = true,
    .suits = any_team,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
