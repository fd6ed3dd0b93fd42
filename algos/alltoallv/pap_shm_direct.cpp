// Alltoall of blocks of any lengths over nodes, through their masters, who serve whoever has come,
// and in which every rank copies out whatever has come.
//
//  1  every rank writes into a shared table how much it sends to each node and receives from each;
//     by that all know how long pieces are, the master provides room for them, and invites the
//     other masters whose pieces go in place
//  2  every rank copies its blocks, and their lengths, into the pieces, one for each node
//  3  the master sends each other master its piece, all at once: short ones leave whether the other
//     is there or not, long ones as soon as its invitation comes; and receives theirs in the order
//     in which they come
//  4  of each that comes it notes whose it is, and says so; all ranks copy out in that order
//
// The invitation, or the message itself, is all that says that a master is there. A node posts n-1
// messages of p^2 blocks and their lengths, of 8 bytes each, over n-1 connections. All that leaves
// and all that comes is staged. What a piece holds together both its ends know; that each of its
// blocks is as long as expected who takes it sees by the lengths in it.
//
// Source: Qian 2010 (6.4.4), with lengths that only the two ends of a block know.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/exchange/some_at_a_time.hpp"
#include "algos/patterns/node/node_alltoallv.hpp"

namespace muster::algos {
namespace {

/// The other masters to whom go pieces in place, or to whom go others.
void append_masters(const node_alltoallv& in, bool zero_copy, pooled_list<std::size_t>& found) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t node = in.node_ahead(step);
    if (in.me.is_zero_copy(in.piece_to(node).size()) == zero_copy) found.push_back(in.leader(node));
  }
}

task<> send(node_alltoallv& in) {
  pooled_list<std::size_t> masters;
  append_masters(in, false, masters);
  append_masters(in, true, masters);
  const auto send_piece = [&in](std::size_t master) {
    return in.me.send(master, in.piece_to(in.me.shape().node_of(master)));
  };
  co_await transfer_with(masters, ready_at_once(in.me), send_piece);
}

task<> receive(node_alltoallv& in) {
  pooled_list<std::size_t> masters;
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    masters.push_back(in.leader(in.node_back(step)));
  }
  auto here = in.me.messages_from(std::move(masters));
  for (std::size_t k = 1; const auto master = co_await here.next(); ++k) {
    const std::size_t node = in.me.shape().node_of(*master);
    co_await in.me.receive(*master, in.piece_from(node));
    in.notes().tell(k, node);
    co_await in.take(node);
  }
}

task<> invite_masters(node_alltoallv& in) {
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const std::size_t node = in.node_back(step);
    co_await in.me.invite(in.leader(node), in.piece_from(node));
  }
}

task<> lead(node_alltoallv& in) {
  shared_scratch room(in.me, in.room_bytes());
  in.open(room);
  co_await in.give_all();
  co_await in.filled.all_here(1);
  co_await invite_masters(in);  // what is expected stands in the pieces by now, and may be replaced
  auto outgoing = send(in);
  auto incoming = receive(in);
  auto own = in.take(in.here());
  co_await when_all(std::move(outgoing), std::move(own), std::move(incoming));
  co_await in.received.taken(0);
  room.release();
}

task<> follow(node_alltoallv& in) {
  co_await in.enter();
  co_await in.give_all();
  co_await in.filled.all_here(1);
  co_await in.take(in.here());
  for (std::size_t k = 1; k < in.nodes(); ++k) {
    co_await in.received.arrived(0, k);
    co_await in.take(in.notes().which(k));
  }
  in.received.take(0);
}

task<> take_part(node_alltoallv& in) {
  co_await in.lay_out();
  if (is_leader(in.me)) {
    co_await lead(in);
  } else {
    co_await follow(in);
  }
}

task<> run(context& me, const arguments& call) {
  node_alltoallv in(me, call);
  co_await with_node_buffer(in, in.table_bytes(), 0, take_part);
}

}  // namespace

const algorithm alltoallv_pap_shm_direct = {
    .id = "pap_shm_direct",
    .what = collective::alltoallv,
    .summary = "masters serve whoever has come, ranks copy out whatever has come",
    .source = "Qian 6.4.4",
    .needs = "any ranks; shared memory for all that a node sends and receives",
    .suits = any_team,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
