// Alltoall over nodes, through leaders, in batches that are staged just in time.
//
// The node's pieces go as in OHIO's third design, pairwise and through places that are used again;
// but the exchange does not wait until everything is staged, nor for each step before the next. The
// steps are cut into batches of b a leader. While batch k travels,
//
//  1  all ranks copy their blocks for batch k+1 into its places to be sent from; before the first
//     batch, those for the first, and for their own node
//  2  and copy out of the other places what came in batch k-1; in the first, what is their own
//     node's
//  3  each leader has sent its peers its invitations for batch k, sends them its pieces, to all b
//     of them at once, and so first to whoever has come first, and says of each that comes that it
//     has
//
// Places are used again in the next batch but one, when the leaders have sent, or all ranks have
// copied out, what they held. So what is staged is still in the cache when it leaves, and the
// interface has messages in wait while leaders copy.
//
// A node posts n-1 messages of p^2 blocks over n-1 connections. Of shared memory it takes 2bg
// places to send from, as many to receive into, for g leaders, and one for its own node's blocks,
// whatever n: at most (4bg+1)mp^2 bytes. b is 4, or as many as ports are chosen.
//
// After: Tran et al., OHIO (III.C); docs/decisions/18-alltoall-at-scale.md.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/node/node_steps.hpp"
#include "algos/patterns/node/staged_batches.hpp"

namespace muster::algos {
namespace {

std::size_t messages_at_once(const arguments& call) {
  constexpr std::size_t by_default = 4;
  return call.how.ports != 0 ? call.how.ports : by_default;
}

/// The leader of another node that does what this one does here.
std::size_t peer_in(const staged_batches& of, std::size_t node) {
  return of.me.shape().ranks_of(node)[of.me.node_index()];
}

task<> receive_batch(staged_batches& in, std::size_t first, std::size_t end) {
  for (std::size_t step = first; step < end; step += in.leaders) {
    if (step > in.places) co_await in.received.taken(step - in.places);
    co_await in.me.invite(peer_in(in, in.from(step)), in.piece_received(step));
  }
  for (std::size_t step = first; step < end; step += in.leaders) {
    co_await in.me.receive(peer_in(in, in.from(step)), in.piece_received(step));
    in.received.post(step - 1);
  }
}

task<> exchange_batch(staged_batches& in, std::size_t batch) {
  const std::size_t first = in.begin_of(batch) + in.me.node_index();
  pooled_list<task<>> all;
  all.push_back(receive_batch(in, first, in.end_of(batch)));
  for (std::size_t step = first; step < in.end_of(batch); step += in.leaders) {
    all.push_back(in.me.send(peer_in(in, in.to(step)), in.piece_sent(step)));
  }
  co_await when_all(std::move(all));
  in.filled.take(batch);
}

task<> lead(staged_batches& in, std::size_t batch) {
  co_await in.filled.all_here(batch);
  auto exchange = exchange_batch(in, batch);
  auto meanwhile = in.stage_and_copy_out(batch);
  co_await when_all(std::move(exchange), std::move(meanwhile));
}

task<> take_part(staged_batches& in) {
  co_await in.stage_step(0);
  if (in.batches() > 0) {
    co_await in.stage_batch(0);
  } else {
    in.filled.post(0);
    co_await in.stage_and_copy_out(0);
  }
  const bool leads = in.me.node_index() < in.leaders;
  for (std::size_t batch = 0; batch < in.batches(); ++batch) {
    if (leads) {
      co_await lead(in, batch);
    } else {
      co_await in.stage_and_copy_out(batch);
    }
  }
  if (in.batches() > 0) co_await in.copy_out_batch(in.batches() - 1);
}

task<> run(context& me, const arguments& call) {
  staged_batches in(me, call, leaders_everywhere(me.shape(), call.how.groups),
                    messages_at_once(call));
  co_await with_node_buffer(in, in.bytes(), in.nodes() - 1, take_part);
}

bool suits(const shape& ranks, const machine& seen, const arguments& call) {
  const std::size_t leaders = leaders_everywhere(ranks, call.how.groups);
  const std::size_t most = ranks.largest_node();
  return fits_into_node_buffer(
      seen, staged_batches::pieces(ranks.nodes(), leaders, messages_at_once(call)) * most * most *
                call.bytes());
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t leaders = leaders_everywhere(of, call);
  return cost_of_pieces(of, call,
                        staged_batches::pieces(of.nodes, leaders, messages_at_once(call)));
}

}  // namespace

const algorithm alltoall_staged_stream = {
    .id = "staged_stream",
    .what = collective::alltoall,
    .summary = "leaders exchange pieces in batches, staged and copied out while others travel",
    .source = "after Tran, OHIO III.C",
    .formula = "n-1 messages of p^2m bytes, n-1 connections, (4kg+1)p^2m bytes shared",
    .costs = costs,
    .has_ports = true,
    .has_groups = true,
    .suits = suits,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
