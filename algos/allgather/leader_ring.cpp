// Allgather over nodes, through their leaders.
//
//  1  every rank stages its block, segment by segment; all ranks of its node, the leader among
//  them, copy
//     it into place
//  2  the leaders pass whole nodes' blocks around a ring: n-1 steps, each forwarding to the right
//     what came from the left
//  3  a leader stages every remote block as it comes, and the other ranks of its node copy it
//
// Between nodes every block travels once into each node. Source: the node-gather, leader-exchange,
// node-broadcast scheme of Qian 2010 (4.4.2), with a ring among the leaders.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/leaders.hpp"
#include "algos/patterns/node/reduce_slices.hpp"

namespace muster::algos {
namespace {

task<> share_in_node(context& me, const arguments& call, pipeline& local) {
  const auto own = call.own_block(me.rank());
  local.lend(own, pipeline::lending::for_copies);
  for (std::size_t k = 0; k < local.cut().count(); ++k) {
    co_await contribute(me, local, own, k);
    auto here = local.here(k);
    while (const auto from = co_await here.next()) {
      co_await local.copy(*from, k, 0, call.received_from(me.rank_of(*from)));
    }
    local.take(k);
  }
  co_await me.copy(call.received_from(me.rank()), own);
}

task<> deliver_node(context& me, const arguments& call, std::size_t to, std::size_t node) {
  for (const std::size_t rank : me.shape().ranks_of(node)) {
    co_await me.send(to, call.received_from(rank));
  }
}

task<> invite_node(context& me, const arguments& call, std::size_t from, std::size_t node) {
  for (const std::size_t rank : me.shape().ranks_of(node)) {
    co_await me.invite(from, call.received_from(rank));
  }
}

/// Remote blocks follow each other on the pipeline in ring order; `next` counts their segments.
task<> receive_node(context& me, const arguments& call, std::size_t from, std::size_t node,
                    pipeline& remote, std::size_t& next) {
  for (const std::size_t rank : me.shape().ranks_of(node)) {
    co_await me.receive(from, call.received_from(rank));
    for (std::size_t k = 0; k < remote.cut().count(); ++k, ++next) {
      const auto piece =
          call.received_from(rank).subspan(remote.cut().offset(k), remote.cut().length(k));
      std::byte* slot = co_await remote.slot(next);
      co_await me.stage({slot, piece.size()}, piece);
      remote.post(next);
    }
  }
}

task<> lead(context& me, const arguments& call, pipeline& remote) {
  const std::size_t nodes = me.shape().nodes();
  const std::size_t mine = node_number(me);
  const std::size_t right = leader_of(me.shape(), (mine + 1) % nodes);
  const std::size_t left = leader_of(me.shape(), (mine + nodes - 1) % nodes);
  const auto node_back = [&](std::size_t steps) { return (mine + nodes - steps) % nodes; };
  std::size_t next = 0;
  // One step ahead, so that the left one need not wait for it.
  if (nodes > 1) co_await invite_node(me, call, left, node_back(1));
  for (std::size_t step = 1; step < nodes; ++step) {
    if (step + 1 < nodes) co_await invite_node(me, call, left, node_back(step + 1));
    auto outgoing = deliver_node(me, call, right, node_back(step - 1));
    auto incoming = receive_node(me, call, left, node_back(step), remote, next);
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

task<> follow(context& me, const arguments& call, pipeline& remote) {
  const std::size_t nodes = me.shape().nodes();
  std::size_t next = 0;
  for (std::size_t step = 1; step < nodes; ++step) {
    for (const std::size_t rank : me.shape().ranks_of((node_number(me) + nodes - step) % nodes)) {
      for (std::size_t k = 0; k < remote.cut().count(); ++k, ++next) {
        co_await remote.arrived(0, next);
        const std::size_t length = remote.cut().length(k);
        co_await me.copy(call.received_from(rank).subspan(remote.cut().offset(k), length),
                         {remote.piece(0, next, 0), length});
        remote.take(next);
      }
    }
  }
}

task<> run(context& me, const arguments& call) {
  const segments cut(call.bytes(), 1);
  pipeline local(me, 0, cut);
  pipeline remote(me, 1, cut);
  me.arrive();
  co_await share_in_node(me, call, local);
  if (is_leader(me)) {
    co_await lead(me, call, remote);
  } else {
    co_await me.read(0, 0);
    co_await follow(me, call, remote);
  }
  co_await local.returned();
}

}  // namespace

const algorithm allgather_leader_ring = {
    .id = "leader_ring",
    .what = collective::allgather,
    .summary = "shared inside nodes, a ring of leaders between them",
    .source = "Qian 4.4.2",
    .suits = any_team,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
