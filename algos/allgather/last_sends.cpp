// Allgather over nodes where whoever completes a node's blocks sends them.
//
//  1  every rank copies its block into the node's shared buffer, which holds a place for all
//     blocks, and counts itself in
//  2  the last one sends its node's blocks to all other leaders: no leader of its own has to notice
//     that they are complete, nor to be there
//  3  when its own node is complete a leader receives the other nodes' blocks in the order in which
//     they come, whoever sends them; of each it notes beside the buffer which node's they are and
//     says so, and all ranks of its node copy them out
//
// A node posts n-1 messages of p blocks over n-1 connections, as one leader would, while another
// rank receives as many; N blocks of shared memory a node.
//
// Source: the SMP-aware direct algorithm of Qian 2010 (4.4.2), with the order of arrival of 6.4.5
// and a sender that is not fixed; see docs/decisions/20-whoever-is-last.md.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/arrival/noted_blocks.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> send_to_leaders(gathered_blocks& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    co_await in.me.send(in.leader(in.node_ahead(step)), in.of_node(in.here()));
  }
}

task<> receive_node(gathered_blocks& in, std::size_t node, std::size_t& received) {
  const std::size_t from = co_await in.me.sender_among(in.me.shape().ranks_of(node));
  co_await in.me.receive(from, in.of_node(node));
  notes_of(in).tell(received++, node);
  co_await in.copy_out(node);
}

task<> receive_as_they_come(gathered_blocks& in) {
  std::size_t received = 0;
  pooled_list<task<>> all;
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    all.push_back(receive_node(in, in.node_back(step), received));
  }
  co_await when_all(std::move(all));
}

task<> part(gathered_blocks& in) {
  co_await in.share_own();
  const bool completes = co_await in.me.count_in();
  if (completes) co_await send_to_leaders(in);
  // Where ranks share cores, the others need this one to get that far.
  co_await in.copy_out_own_node();
  if (is_leader(in.me)) {
    co_await receive_as_they_come(in);
  } else {
    co_await copy_out_as_told(in);
  }
}

task<> run(context& me, const arguments& call) {
  return with_gathered_blocks(me, call, part, 0, bytes_of_notes(me));
}

bool suits(const shape& ranks, const machine& measured, const arguments& call) {
  return suits_gathered_blocks(ranks, measured, call) &&
         sent_uninvited(measured, ranks.largest_node() * call.bytes());
}

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_gathered_blocks(of, call, of.nodes - 1);
}

}  // namespace

const algorithm allgather_last_sends = {
    .id = "last_sends",
    .what = collective::allgather,
    .summary = "node buffers, whoever completes a node's blocks sends them to all other leaders",
    .source = "Qian 4.4.2, 6.4.5, the sender not fixed",
    .needs = "a node's blocks up to 32 KiB, and so short that nobody has to invite them",
    .formula = "n-1 messages of pm bytes, n-1 connections, npm bytes shared",
    .costs = costs,
    .suits = suits,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
