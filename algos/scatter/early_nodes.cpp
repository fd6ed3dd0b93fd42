// Scatter over nodes, which the root serves in the order in which they are there.
//
//  1  of each other node whoever comes first speaks for it, and calls on the root
//  2  the root sends each that calls the blocks of all its node, in one message from where they lie
//  3  they come straight into the speaker's stage, or, if there is no room for all of them, into
//     working memory and segment by segment into the stage; so the root stages those of its own
//     node
//  4  the ranks of the node copy their blocks out
//
// The root's node posts n-1 messages of p blocks, of which none is passed on; the others a call. A
// node that comes late holds up nobody, nor does a late rank of a node that is there, unless more
// than a stage holds is to pass through it.
//
// Source: the direct scatter of Qian 2010 (3.4.1) between nodes, with the notices of arrival
// of 6.4.

#include <algorithm>

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/arrival/first_comers.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/receive_segments.hpp"
#include "algos/patterns/node/stage_blocks.hpp"

namespace muster::algos {
namespace {

/// Of the scatter, as one rank sees it.
struct node_blocks {
  context& me;
  const arguments& call;
  pipeline staged;                    // of the speaker: a block for each of its node
  std::span<const std::byte> passed;  // a speaker's, but the root's, where they went past the stage

  node_blocks(context& me, const arguments& call)
      : me(me), call(call), staged(me, 0, cut_for(me, call)) {}

  std::size_t bytes() const { return me.node().size() * call.bytes(); }
  /// The root's memory for the blocks of any node, which it serves one after the other.
  std::span<std::byte> packed(std::size_t length) {
    if (room_.empty()) room_ = me.scratch(me.shape().largest_node() * call.bytes());
    return room_.first(length);
  }
  std::span<const std::byte> block(std::size_t local_peer) const {
    if (me.rank() == call.root) return call.sent_to(me.rank_of(local_peer));
    return passed.subspan(local_peer * call.bytes(), call.bytes());
  }

private:
  std::span<std::byte> room_;

  static segments cut_for(const context& me, const arguments& call) {
    const std::size_t ranks = me.node().size();
    segments cut(call.bytes(), ranks, segments::far);
    // Side by side as they come, where there is room for all.
    if (ranks * call.bytes() <= wire::segment_bytes)
      cut.piece = std::max<std::size_t>(call.bytes(), 1);
    return cut;
  }
};

/// What goes to a node, from where it lies if that is one stretch.
task<> send_to_node_of(node_blocks& in, std::size_t speaker) {
  const auto ranks = in.me.shape().ranks_of(in.me.shape().node_of(speaker));
  const std::size_t bytes = in.call.bytes();
  std::span<const std::byte> blocks(in.call.sent_to(ranks.front()).data(), ranks.size() * bytes);
  if (ranks.back() - ranks.front() + 1 != ranks.size()) {
    const auto packed = in.packed(blocks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      co_await in.me.copy(packed.subspan(i * bytes, bytes), in.call.sent_to(ranks[i]));
    }
    blocks = packed;
  }
  co_await in.me.send(speaker, blocks);
}

task<> serve(node_blocks& in) {
  callers here(in.me);
  while (const auto speaker = co_await here.next()) co_await send_to_node_of(in, *speaker);
}

/// The blocks of the speaker's node, where they are not in the stage.
task<> serve_own_node(node_blocks& in) {
  const auto block = [&in](std::size_t local_peer) { return in.block(local_peer); };
  if (in.me.node().size() > 1) co_await stage_blocks(in.me, in.staged, block);
  if (!in.call.in_place()) co_await in.me.copy(in.call.result(), block(in.me.node_index()));
}

task<> receive_into_stage(node_blocks& in) {
  const std::span<std::byte> slot = {co_await in.staged.slot(0), in.bytes()};
  co_await in.me.expect(in.call.root, slot);
  in.staged.post(0);
  co_await in.me.copy(in.call.result(),
                      slot.subspan(in.me.node_index() * in.call.bytes(), in.call.bytes()));
}

task<> speak(node_blocks& in) {
  co_await call_on_root(in.me);
  if (in.me.node().size() == 1 || in.call.count == 0) {
    co_await in.me.expect(in.call.root, in.call.result());
  } else if (in.staged.cut().count() == 1) {
    co_await receive_into_stage(in);
  } else {
    const std::span<std::byte> blocks = in.me.scratch(in.bytes());
    co_await in.me.expect(in.call.root, blocks);
    in.passed = blocks;
    co_await serve_own_node(in);
  }
}

task<> run(context& me, const arguments& call) {
  node_blocks in(me, call);
  const std::size_t speaker = first_speaker(me);
  me.arrive();
  if (me.rank() == call.root) {
    auto elsewhere = serve(in);
    auto here = serve_own_node(in);
    co_await when_all(std::move(elsewhere), std::move(here));
  } else if (me.node_index() == speaker) {
    co_await speak(in);
  } else if (call.count != 0) {
    co_await receive_segments(in.staged, speaker, me.node_index(), call.result());
  }
}

stage_kind stages(const shape& ranks, const machine&, const arguments& call) {
  return stages_of_pipeline(ranks.largest_node() * call.bytes());
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t elsewhere = of.nodes - 1;
  const std::size_t blocks = of.ranks_a_node * call.bytes();
  const std::size_t staged = of.ranks_a_node == 1 ? 0 : blocks;
  return {.messages = elsewhere,
          .bytes = elsewhere * blocks,
          .connections = elsewhere,
          .memory = of.nodes == 1 && staged != 0 ? blocks - call.bytes() : staged};
}

}  // namespace

const algorithm scatter_early_nodes = {
    .id = "early_nodes",
    .what = collective::scatter,
    .summary = "whoever comes first of each node calls on the root, and gets all its blocks",
    .source = "own; Qian 3.4.1, 6.4",
    .formula = "the root's node: n-1 messages of pm bytes, as many connections; pm bytes of memory",
    .costs = costs,
    .suits = any_team,
    .stages = stages,
    .run = run,
};

}  // namespace muster::algos
