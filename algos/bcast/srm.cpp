// Broadcast over nodes, piece by piece.
//
//  1  on each node one rank speaks: the root on its own node, the leader elsewhere; these form a
//     binomial tree between nodes, rooted at the root's node
//  2  each speaker receives a piece from its parent and passes it on to its children
//  3  the other ranks of the node copy it out of the speaker's stage, or on the root's node
//     straight from its buffer where they can
//
// A message of up to 8 KiB the speaker publishes, and waits for none of its readers: whoever
// broadcasts again and again may be as far ahead as there are lanes. A longer one comes straight
// into the stage, for all of the node at once; up to 32 KiB in chunks of 4 KiB, one behind the
// other, and of 16 KiB up to 64 KiB. A long one goes past all stages into the speaker's memory in
// pieces of 64 KiB, and the node's part follows a piece behind, while the next comes.
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
  cut.piece = call.bytes() < 32 * kib ? 4 * kib : 16 * kib;
  if (call.bytes() > 64 * kib) cut.piece = 64 * kib;
  return cut;
}

tree_place place_in_tree(context& me, const arguments& call) {
  tree_place mine;
  const binomial_tree nodes(me.shape().nodes(), me.shape().node_of(call.root), node_number(me),
                            ports_of(me));
  if (!nodes.is_root()) mine.parent = speaker_of(me, nodes.parent());
  for (std::size_t distance = nodes.first_distance(); distance != 0;
       distance = nodes.next_distance(distance)) {
    auto& level = mine.children.emplace_back();
    for (const auto& child : nodes.children(distance)) {
      level.push_back(speaker_of(me, nodes.number_of(child.member)));
    }
  }
  return mine;
}

bool is_published(const arguments& call) { return call.bytes() <= wire::short_stage_bytes; }

task<> publish(context& me, const arguments& call) {
  const tree_place mine = place_in_tree(me, call);
  if (mine.parent) co_await me.expect(*mine.parent, call.result());
  if (me.node().size() > 1) {
    me.publish(call.result());
  } else {
    me.arrive();
  }
  co_await pass_on(me, mine, call.result());
}

task<> read_published(context& me, const arguments& call, std::size_t speaker) {
  me.arrive();
  const auto message = co_await me.read(speaker, call.bytes());
  co_await me.copy(call.result(), message);
}

task<> speak_in_pieces(context& me, const arguments& call) {
  node_broadcast in(me, call, cut_for(call));
  me.arrive();
  in.place = place_in_tree(me, call);
  co_await speak(in);
}

task<> listen_to_pieces(context& me, const arguments& call, std::size_t speaker) {
  node_broadcast in(me, call, cut_for(call));
  me.arrive();
  co_await listen(in, speaker);
}

task<> run(context& me, const arguments& call) {
  const std::size_t speaker = speaker_of(me, node_number(me));
  const std::size_t its_place = me.shape().index_of(speaker);
  const bool speaks = me.rank() == speaker;
  if (is_published(call)) {
    return speaks ? publish(me, call) : read_published(me, call, its_place);
  }
  return speaks ? speak_in_pieces(me, call) : listen_to_pieces(me, call, its_place);
}

stage_kind stages(const shape& ranks, const machine& measured, const arguments& call) {
  return is_published(call) ? one_way_stages(ranks, measured, call)
                            : pipeline_stages(ranks, measured, call);
}

}  // namespace

const algorithm bcast_srm = {
    .id = "srm",
    .what = collective::bcast,
    .summary = "a tree between nodes, shared stages inside",
    .source = "SRM 2.4",
    .has_ports = true,
    .suits = any_team,
    .stages = stages,
    .run = run,
};

}  // namespace muster::algos
