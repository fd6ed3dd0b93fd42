// Broadcast over nodes, piece by piece.
//
//  1  on each node one rank speaks: the root on its own node, the leader elsewhere; these form a
//     binomial tree between nodes, rooted at the root's node
//  2  each speaker receives a piece from its parent, passes it on to its children, and stages it
//  3  the other ranks of the node copy the piece out of the stage
//
// ⌈log2 n⌉ steps between nodes, as many as a tree that ignores them would need there; pieces of one
// item follow each other through all three as a pipeline.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.1, 2.4).

#include "algos/algorithms.hpp"
#include "algos/patterns/leaders.hpp"
#include "algos/patterns/suitability.hpp"

namespace muster::algos {
namespace {

std::size_t speaker_of(context& me, std::size_t root, std::size_t node) {
  return node == me.shape().node_of(root) ? root : leader_of(me.shape(), node);
}

task<> pass_on(context& me, std::size_t root, std::span<std::byte> piece) {
  const std::size_t nodes = me.shape().nodes();
  const std::size_t first = me.shape().node_of(root);
  const std::size_t member = (node_number(me) + nodes - first) % nodes;
  const auto rank_of_member = [&](std::size_t m) {
    return speaker_of(me, root, (m + first) % nodes);
  };
  std::size_t bit = 1;
  for (; bit < nodes && (member & bit) == 0; bit *= 2) {
  }
  if (member != 0) co_await me.expect(rank_of_member(member - bit), piece);
  for (bit /= 2; bit != 0; bit /= 2) {
    if (member + bit < nodes) co_await me.deliver(rank_of_member(member + bit), piece);
  }
}

task<> run(context& me, const arguments& call) {
  const std::size_t speaker = speaker_of(me, call.root, node_number(me));
  track pieces(me, 0, items(call.bytes(), 1, items::far));
  me.arrive();
  if (me.rank() != speaker) {
    const std::size_t from = me.shape().index_of(speaker);
    co_await me.read(from, 0);
    for (std::size_t k = 0; k < pieces.cut().count(); ++k) {
      co_await pieces.arrived(from, k);
      co_await pieces.copy(from, k, 0, call.result());
      pieces.take(k);
    }
    co_return;
  }
  for (std::size_t k = 0; k < pieces.cut().count(); ++k) {
    const auto piece = call.result().subspan(pieces.cut().offset(k), pieces.cut().length(k));
    co_await pass_on(me, call.root, piece);
    std::byte* room = co_await pieces.room(k);
    co_await me.copy({room, piece.size()}, piece);
    pieces.post(k);
  }
  if (call.count == 0) co_await pass_on(me, call.root, {});
}

}  // namespace

const algorithm bcast_srm = {
    .id = "srm",
    .what = collective::bcast,
    .summary = "binomial tree between nodes, staged pieces inside",
    .source = "SRM 2.4",
    .suits = any_team,
    .stages = track_stages,
    .run = run,
};

}  // namespace muster::algos
