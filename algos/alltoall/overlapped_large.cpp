// Alltoall over nodes for long blocks, in which every core has its peers and the node's exchange
// goes on while their messages travel.
//
//  for s = 0 … n-1, where step 0 is this node's own exchange:
//  1  every rank copies its blocks for the node s further on into one of two shared buffers, while
//     the messages of step s-1 leave from the other
//  2  when all have, every rank sends its peer there the row of p blocks that is for it
//  3  meanwhile what comes from the node s back goes straight to its place
//
// A node posts (n-1)p messages of p blocks over as many connections, and stages two pieces of p^2
// blocks, whatever the number of nodes; in place, every rank also keeps a copy of its N blocks.
// Peers on uneven nodes are those of `multicore_groups`.
//
// Source: Khorassani et al. 2021, hierarchical all-to-all of large messages; there the rows are
// gathered from accelerators' memories, here from the ranks' through shared memory.

#include <algorithm>

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/peer_rows.hpp"

namespace muster::algos {
namespace {

constexpr std::size_t buffers = 2;

/// The piece that leaves in a step.
std::span<std::byte> piece_of(const node_alltoall& in, std::size_t step) {
  const std::size_t begin = step % buffers * in.blocks.most_bytes();
  return in.shared.subspan(begin, in.blocks.bytes_of(in.node_ahead(step)));
}

/// Where there is such a step: gathers its piece, as soon as its buffer is free.
task<> gather(node_alltoall& in, std::size_t step) {
  if (step == in.nodes()) co_return;
  if (step >= buffers) co_await in.received.taken(step - buffers);
  co_await in.give(in.node_ahead(step), piece_of(in, step));
  in.filled.post(step);
}

task<> send_row(node_alltoall& in, std::size_t step) {
  co_await in.filled.all_here(step);
  const auto piece = piece_of(in, step);
  if (step == 0) {
    co_await in.take(in.here(), piece);
  } else {
    co_await send_to_peers(in, in.node_ahead(step), piece);
  }
}

task<> gather_and_send(node_alltoall& in) {
  co_await gather(in, 0);
  for (std::size_t step = 0; step < in.nodes(); ++step) {
    auto this_one = send_row(in, step);
    auto next_one = gather(in, step + 1);
    co_await when_all(std::move(this_one), std::move(next_one));
    in.received.take(step);
  }
}

task<> take_part(node_alltoall& in) {
  node_messages rows(in.me, in.call);
  co_await invite_peers(in, rows);
  auto outgoing = gather_and_send(in);
  auto incoming = receive_from_peers(in, rows);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

task<> run(context& me, const arguments& call) {
  node_alltoall in(me, call, node_matrix::order::by_destination);
  // In place, blocks of the last steps must leave before others come.
  if (call.in_place()) in.sent = me.save(in.sent);
  const std::size_t bytes = std::min(buffers, in.nodes()) * in.blocks.most_bytes();
  co_await with_node_buffer(in, bytes, in.nodes() - 1, take_part);
}

bool suits(const shape& ranks, const machine& seen, const arguments& call) {
  const std::size_t most = ranks.largest_node();
  return fits_into_node_buffer(seen, buffers * call.bytes() * most * most);
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = (of.nodes - 1) * of.ranks_a_node;
  const std::size_t piece = of.ranks_a_node * of.ranks_a_node * call.bytes();
  return {.messages = messages,
          .bytes = messages * of.ranks_a_node * call.bytes(),
          .connections = messages,
          .memory = std::min(buffers, of.nodes) * piece};
}

}  // namespace

const algorithm alltoall_overlapped_large = {
    .id = "overlapped_large",
    .what = collective::alltoall,
    .summary = "every core with its peer of each other node, while the next rows are gathered",
    .source = "Khorassani et al. 2021",
    .formula = "(n-1)p messages of pm bytes, (n-1)p connections, min(2, n)p^2m bytes shared",
    .costs = costs,
    .suits = suits,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
