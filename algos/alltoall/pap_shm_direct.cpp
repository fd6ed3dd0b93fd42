// Alltoall over nodes, through their masters, who serve whoever has come, and in which every rank
// copies out whatever has come.
//
//  1  every rank copies its blocks into the node's shared send buffer, so that what goes to a node
//     is one piece
//  2  the master sends each other master its piece: long ones, which go in place, in the order in
//     which the others' invitations come, short ones whether the others are there or not; and
//     receives theirs into the shared receive buffer, in the order in which they come
//  3  of each that comes it notes behind the buffers whose it is, and says so; all ranks copy out
//     in that order
//
// The invitation, or the message itself, is all that says that a master is there. A node posts n-1
// messages of p^2 blocks over n-1 connections, and takes (2n-1)mp^2 bytes of shared memory and the
// notes.
//
// Source: Qian 2010 (6.4.4).

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/arrival/arrival_notes.hpp"
#include "algos/patterns/node/node_alltoall.hpp"

namespace muster::algos {
namespace {

/// Which node's piece came k-th.
arrival_notes notes(node_alltoall& in) {
  return {in.shared.subspan(in.bytes_both_ways()), in.received};
}

/// The masters after this one whose pieces go in place, or do not.
pooled_list<std::size_t> masters(const node_alltoall& in, bool zero_copy) {
  pooled_list<std::size_t> found;
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t node = in.node_ahead(step);
    if (in.me.is_zero_copy(in.blocks.bytes_of(node)) == zero_copy) found.push_back(in.leader(node));
  }
  return found;
}

task<> take_own_node(node_alltoall& in) {
  co_await in.filled.all_here(0);
  co_await in.take(in.here(), in.piece_to(in.here()));
}

task<> send_to(node_alltoall& in, std::size_t master) {
  return in.me.send(master, in.piece_to(in.me.shape().node_of(master)));
}

task<> send(node_alltoall& in) {
  auto invitations = in.me.invitations_from(masters(in, true));
  for (const std::size_t master : masters(in, false)) co_await send_to(in, master);
  while (const auto master = co_await invitations.next()) co_await send_to(in, *master);
}

task<> receive(node_alltoall& in) {
  co_await take_own_node(in);
  auto all = masters(in, false);
  for (const std::size_t master : masters(in, true)) all.push_back(master);
  auto here = in.me.messages_from(std::move(all));
  for (std::size_t k = 0; const auto master = co_await here.next(); ++k) {
    const std::size_t node = in.me.shape().node_of(*master);
    co_await in.me.receive(*master, in.piece_from(node));
    notes(in).tell(k, node);
    co_await in.take(node, in.piece_from(node));
  }
}

task<> lead(node_alltoall& in) {
  co_await invite_leaders(in);
  co_await in.give_all();
  in.filled.post(0);
  co_await in.filled.all_here(0);
  auto outgoing = send(in);
  auto incoming = receive(in);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

task<> follow(node_alltoall& in) {
  co_await in.give_all();
  in.filled.post(0);
  co_await take_own_node(in);
  for (std::size_t k = 0; k + 1 < in.nodes(); ++k) {
    co_await in.received.arrived(0, k);
    const std::size_t node = notes(in).which(k);
    co_await in.take(node, in.piece_from(node));
  }
  in.received.take(0);
}

task<> take_part(node_alltoall& in) { return is_leader(in.me) ? lead(in) : follow(in); }

task<> run(context& me, const arguments& call) {
  node_alltoall in(me, call);
  const std::size_t bytes = in.bytes_both_ways() + arrival_notes::bytes(in.nodes());
  co_await with_node_buffer(in, bytes, 0, take_part);
}

}  // namespace

const algorithm alltoall_pap_shm_direct = {
    .id = "pap_shm_direct",
    .what = collective::alltoall,
    .summary = "masters serve whoever has come, ranks copy out whatever has come",
    .source = "Qian 6.4.4",
    .formula = "n-1 messages of p^2m bytes, n-1 connections, (2n-1)p^2m bytes shared",
    .costs = cost_of_pieces_both_ways,
    .suits = fits_both_ways,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
