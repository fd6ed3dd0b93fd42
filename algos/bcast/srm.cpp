// Broadcast over nodes, piece by piece.
//
//  1  on each node one rank speaks: the root on its own node, the leader elsewhere; these form a
//     binomial tree between nodes, rooted at the root's node
//  2  each speaker receives a piece from its parent and passes it on to its children
//  3  the other ranks of the node copy it out of the speaker's stage, or on the root's node
//  straight
//     from its buffer where they can
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
#include "algos/patterns/binomial_blocks.hpp"
#include "algos/patterns/leaders.hpp"
#include "algos/patterns/ports.hpp"
#include "algos/patterns/receive_items.hpp"
#include "algos/patterns/suitability.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t longest_short = 64 * kib;

bool is_short(const arguments& call) { return call.bytes() <= longest_short; }

items cut_for(const arguments& call) {
  items cut(call.bytes(), 1, items::far);
  if (call.bytes() > 8 * kib) cut.piece = call.bytes() < 32 * kib ? 4 * kib : 16 * kib;
  if (!is_short(call)) cut.piece = longest_short;
  return cut;
}

/// Of the broadcast, as one rank sees it.
struct broadcast {
  context& me;
  const arguments& call;
  binomial_tree nodes;
  track pieces;  // the speaker's

  broadcast(context& me, const arguments& call)
      : me(me),
        call(call),
        nodes(me.shape().nodes(), me.shape().node_of(call.root), node_number(me), ports_of(me)),
        pieces(me, 0, cut_for(call)) {}

  std::size_t speaker_of(std::size_t node) const {
    const std::size_t root = call.root;
    return node == me.shape().node_of(root) ? root : leader_of(me.shape(), node);
  }
  std::size_t count() const { return pieces.cut().count(); }
  std::span<std::byte> piece(std::size_t k) const {
    return call.result().subspan(pieces.cut().offset(k), pieces.cut().length(k));
  }
};

task<> receive(broadcast& in, std::span<std::byte> place) {
  if (in.nodes.is_root()) co_return;
  co_await in.me.expect(in.speaker_of(in.nodes.parent()), place);
}

task<> pass_on(broadcast& in, std::span<const std::byte> piece) {
  for (std::size_t distance = in.nodes.first_distance(); distance != 0;
       distance = in.nodes.next_distance(distance)) {
    pooled_list<task<>> level;
    for (const auto& child : in.nodes.children(distance)) {
      level.push_back(in.me.deliver(in.speaker_of(in.nodes.number_of(child.member)), piece));
    }
    co_await when_all(std::move(level));
  }
}

/// A speaker's part of a short message: into the stage, then out of it, also for itself.
task<> speak_through_stage(broadcast& in) {
  for (std::size_t k = 0; k < in.count(); ++k) {
    std::byte* const begin = co_await in.pieces.room(k);
    const std::span<std::byte> room = {begin, in.piece(k).size()};
    if (in.nodes.is_root()) co_await in.me.copy(room, in.piece(k));
    co_await receive(in, room);
    in.pieces.post(k);
    co_await pass_on(in, room);
    if (!in.nodes.is_root()) co_await in.me.copy(in.piece(k), room);
  }
}

task<> receive_piece(broadcast& in, std::size_t k) {
  if (k < in.count()) co_await receive(in, in.piece(k));
}

task<> stage(broadcast& in, std::size_t k) {
  if (in.me.node().size() == 1 || in.pieces.lent()) co_return;
  std::byte* room = co_await in.pieces.room(k);
  co_await in.me.copy({room, in.piece(k).size()}, in.piece(k));
  in.pieces.post(k);
}

/// The same of a long one, which comes where it belongs.
task<> speak(broadcast& in) {
  if (in.nodes.is_root()) in.pieces.lend(in.call.result(), track::lending::for_copies);
  co_await receive_piece(in, 0);
  for (std::size_t k = 0; k < in.count(); ++k) {
    auto passed_on = pass_on(in, in.piece(k));
    auto staged = stage(in, k);
    auto next = receive_piece(in, k + 1);
    co_await when_all(std::move(passed_on), std::move(staged), std::move(next));
  }
  co_await in.pieces.returned();
}

task<> run(context& me, const arguments& call) {
  broadcast in(me, call);
  const std::size_t speaker = in.speaker_of(node_number(me));
  const std::size_t from = me.shape().index_of(speaker);
  me.arrive();
  if (me.rank() != speaker) {
    co_await me.read(from, 0);
    if (call.count != 0) co_await receive_items(in.pieces, from, 0, call.result());
  } else if (call.count == 0) {
    co_await receive(in, {});
    co_await pass_on(in, {});
  } else if (is_short(call) && me.node().size() > 1) {
    co_await speak_through_stage(in);
  } else {
    co_await speak(in);
  }
}

}  // namespace

const algorithm bcast_srm = {
    .id = "srm",
    .what = collective::bcast,
    .summary = "a tree between nodes, shared stages inside",
    .source = "SRM 2.4",
    .has_ports = true,
    .suits = any_team,
    .stages = track_stages,
    .run = run,
};

}  // namespace muster::algos
