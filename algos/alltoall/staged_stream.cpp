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
#include "algos/patterns/node/node_alltoall.hpp"
#include "algos/patterns/node/node_steps.hpp"

namespace muster::algos {
namespace {

std::size_t messages_at_once(const arguments& call) {
  constexpr std::size_t by_default = 4;
  return call.how.ports != 0 ? call.how.ports : by_default;
}

struct stream : node_alltoall {
  std::size_t leaders;  // g
  std::size_t a_batch;  // bg steps
  std::size_t places;   // two batches of them
  std::size_t place_bytes;

  // Posted on `filled`, segment k: a rank's blocks for batch k; taken by leaders: they have sent
  // theirs. Posted on `received`, segment s - 1: a leader has the piece of step s; taken with
  // segment s.
  stream(context& me, const arguments& call)
      : node_alltoall(me, call),
        leaders(leaders_everywhere(me.shape(), call.how.groups)),
        a_batch(messages_at_once(call) * leaders),
        places(std::min(2 * a_batch, nodes() - 1)),
        place_bytes(blocks.most_bytes()) {
    // In place, blocks must leave before others come: they are moved aside first.
    if (call.in_place()) sent = me.save(sent);
  }

  std::size_t bytes() const { return (1 + 2 * places) * place_bytes; }
  std::size_t batches() const { return (nodes() - 1 + a_batch - 1) / a_batch; }
  std::size_t begin_of(std::size_t batch) const { return 1 + batch * a_batch; }
  std::size_t end_of(std::size_t batch) const { return std::min(nodes(), begin_of(batch + 1)); }
  std::size_t leader_in(std::size_t step) const { return (step - 1) % leaders; }
  std::size_t to(std::size_t step) const { return node_sent_to(me.shape(), here(), step); }
  std::size_t from(std::size_t step) const { return node_received_from(me.shape(), here(), step); }
  std::size_t peer_in(std::size_t node) const { return me.shape().ranks_of(node)[me.node_index()]; }

  /// The place of step 0 is the node's own.
  std::span<std::byte> piece_sent(std::size_t step) const {
    const std::size_t place = step == 0 ? 0 : 1 + step % places;
    return shared.subspan(place * place_bytes, blocks.bytes_of(to(step)));
  }
  std::span<std::byte> piece_received(std::size_t step) const {
    const std::size_t place = step == 0 ? 0 : 1 + places + step % places;
    return shared.subspan(place * place_bytes, blocks.bytes_of(from(step)));
  }
};

task<> stage_step(stream& in, std::size_t step) {
  return in.give(in.to(step), in.piece_sent(step));
}

task<> stage_batch(stream& in, std::size_t batch) {
  // Of the leaders this rank may be one: its own are sent already.
  for (std::size_t leader = 0; batch >= 2 && leader < in.leaders; ++leader) {
    co_await in.filled.taken(batch - 2, leader);
  }
  for (std::size_t step = in.begin_of(batch); step < in.end_of(batch); ++step) {
    co_await stage_step(in, step);
  }
  in.filled.post(batch);
}

task<> copy_out_step(stream& in, std::size_t step) {
  co_await in.take(in.from(step), in.piece_received(step));
  in.received.take(step);
}

task<> copy_out_batch(stream& in, std::size_t batch) {
  for (std::size_t step = in.begin_of(batch); step < in.end_of(batch); ++step) {
    co_await in.received.arrived(in.leader_in(step), step - 1);
    co_await copy_out_step(in, step);
  }
}

/// What every rank does while a batch travels.
task<> stage_and_copy_out(stream& in, std::size_t batch) {
  if (batch + 1 < in.batches()) co_await stage_batch(in, batch + 1);
  if (batch > 0) {
    co_await copy_out_batch(in, batch - 1);
  } else {
    co_await in.filled.all_here(0);
    co_await copy_out_step(in, 0);
  }
}

task<> receive_batch(stream& in, std::size_t first, std::size_t end) {
  for (std::size_t step = first; step < end; step += in.leaders) {
    if (step > in.places) co_await in.received.taken(step - in.places);
    co_await in.me.invite(in.peer_in(in.from(step)), in.piece_received(step));
  }
  for (std::size_t step = first; step < end; step += in.leaders) {
    co_await in.me.receive(in.peer_in(in.from(step)), in.piece_received(step));
    in.received.post(step - 1);
  }
}

task<> exchange_batch(stream& in, std::size_t batch) {
  const std::size_t first = in.begin_of(batch) + in.me.node_index();
  pooled_list<task<>> all;
  all.push_back(receive_batch(in, first, in.end_of(batch)));
  for (std::size_t step = first; step < in.end_of(batch); step += in.leaders) {
    all.push_back(in.me.send(in.peer_in(in.to(step)), in.piece_sent(step)));
  }
  co_await when_all(std::move(all));
  in.filled.take(batch);
}

task<> lead(stream& in, std::size_t batch) {
  co_await in.filled.all_here(batch);
  auto exchange = exchange_batch(in, batch);
  auto meanwhile = stage_and_copy_out(in, batch);
  co_await when_all(std::move(exchange), std::move(meanwhile));
}

task<> take_part(stream& in) {
  co_await stage_step(in, 0);
  if (in.batches() > 0) {
    co_await stage_batch(in, 0);
  } else {
    in.filled.post(0);
    co_await stage_and_copy_out(in, 0);
  }
  const bool leads = in.me.node_index() < in.leaders;
  for (std::size_t batch = 0; batch < in.batches(); ++batch) {
    if (leads) {
      co_await lead(in, batch);
    } else {
      co_await stage_and_copy_out(in, batch);
    }
  }
  if (in.batches() > 0) co_await copy_out_batch(in, in.batches() - 1);
}

task<> run(context& me, const arguments& call) {
  stream in(me, call);
  co_await with_node_buffer(in, in.bytes(), in.nodes() - 1, take_part);
}

/// The node's own piece, and places to send from and to receive into.
std::size_t pieces_staged(std::size_t nodes, std::size_t leaders, const arguments& call) {
  return 1 + 2 * std::min(2 * messages_at_once(call) * leaders, nodes - 1);
}

bool suits(const shape& ranks, const machine& seen, const arguments& call) {
  const std::size_t leaders = leaders_everywhere(ranks, call.how.groups);
  const std::size_t most = ranks.largest_node();
  return fits_into_node_buffer(
      seen, pieces_staged(ranks.nodes(), leaders, call) * most * most * call.bytes());
}

node_cost costs(const even_nodes& of, const arguments& call) {
  return cost_of_pieces(of, call, pieces_staged(of.nodes, leaders_everywhere(of, call), call));
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
