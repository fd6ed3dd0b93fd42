// Gather over nodes, everywhere in the order of arrival.
//
//  1  every rank copies its block into the shared buffer of the one who speaks for its node: the
//     root on its own node, the leader elsewhere; but for those it is done
//  2  when its node's blocks are there a leader sends them to the root, in one message from where
//     they lie
//  3  the root takes both, its local peers' blocks and other nodes' messages, as they come
//
// A node posts one message of p blocks, of which none is passed on; p blocks of shared memory a
// node. A rank that comes late holds up its node's message, and nothing else.
//
// Source: the direct gather of Qian 2010 (3.4.2) between nodes, with the notices of arrival of 6.4.

#include <muster/coro/when_all.hpp>
#include <muster/run/shared_scratch.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/leaders.hpp"
#include "algos/patterns/node/node_buffer.hpp"
#include "algos/patterns/node/node_messages.hpp"

namespace muster::algos {
namespace {

/// Of the gather, as one rank sees it.
struct node_blocks {
  context& me;
  const arguments& call;
  pipeline filled;              // segment 0: a rank's own block is in the shared buffer
  std::span<std::byte> shared;  // of the one who speaks for the node: a block a local peer

  node_blocks(context& me, const arguments& call) : me(me), call(call), filled(me, 0, signals) {}

  std::size_t bytes() const { return me.node().size() * call.bytes(); }
  std::span<std::byte> slot(std::size_t local_peer) const {
    return shared.subspan(local_peer * call.bytes(), call.bytes());
  }
  std::span<const std::byte> own() const { return call.own_block(me.rank()); }
};

task<> take_nodes(const node_blocks& in) {
  const shape& ranks = in.me.shape();
  node_messages blocks(in.me, in.call);
  pooled_list<std::size_t> leaders;
  for (std::size_t step = 1; step < ranks.nodes(); ++step) {
    const std::size_t node = (node_number(in.me) + step) % ranks.nodes();
    leaders.push_back(leader_of(ranks, node));
    co_await blocks.invite(leaders.back());
  }
  auto here = in.me.messages_from(std::move(leaders));
  while (const auto leader = co_await here.next()) co_await blocks.receive(*leader);
}

task<> take_local_peers(node_blocks& in) {
  auto here = in.filled.here(0);
  while (const auto from = co_await here.next()) {
    co_await in.me.copy(in.call.received_from(in.me.rank_of(*from)), in.slot(*from));
  }
}

task<> speak(node_blocks& in) {
  if (in.me.rank() != in.call.root) {
    co_await in.me.copy(in.slot(in.me.node_index()), in.own());
    co_await in.filled.all_here(0);
    co_await in.me.send(in.call.root, in.shared);
    co_return;
  }
  co_await in.me.copy(in.call.received_from(in.me.rank()), in.own());
  auto here = take_local_peers(in);
  auto elsewhere = take_nodes(in);
  co_await when_all(std::move(here), std::move(elsewhere));
}

task<> run(context& me, const arguments& call) {
  node_blocks in(me, call);
  const bool with_root = me.shape().node_of(call.root) == node_number(me);
  const std::size_t speaker = with_root ? me.shape().index_of(call.root) : 0;
  if (me.node_index() == speaker) {
    shared_scratch shared(me, in.bytes());
    in.shared = shared.bytes();
    shared.announce();
    co_await speak(in);
    shared.release();
    co_return;
  }
  me.arrive();
  in.shared = co_await me.shared_scratch_of(speaker, in.bytes());
  co_await me.copy(in.slot(me.node_index()), in.own());
  in.filled.post(0);
}

bool suits(const shape& ranks, const machine& seen, const arguments& call) {
  return fits_into_node_buffer(seen, ranks.size() * call.bytes());
}

node_cost costs(const even_nodes& of, const arguments& call) {
  if (of.nodes * of.ranks_a_node == 1) return {};
  const std::size_t messages = of.nodes == 1 ? 0 : 1;
  const std::size_t blocks = of.ranks_a_node * call.bytes();
  return {
      .messages = messages, .bytes = messages * blocks, .connections = messages, .memory = blocks};
}

}  // namespace

const algorithm gather_early_nodes = {
    .id = "early_nodes",
    .what = collective::gather,
    .summary = "nodes' blocks through shared buffers to the root, whichever come first",
    .source = "Qian 3.4.2, 6.4",
    .formula = "1 message of pm bytes, 1 connection; pm bytes of memory",
    .costs = costs,
    .suits = suits,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
