// Alltoall over nodes, through their masters, who serve whoever has come, and in which every rank
// copies out whatever has come.
//
//  1  every rank copies its blocks into the node's shared send buffer, so that what goes to a node
//     is one piece
//  2  the master sends each other master its piece: long ones, which go in place, in the order in
//     which the others' invitations come, short ones whether the others are there or not; and
//     receives theirs into the shared receive buffer, in the order in which they come
//  3  of each that comes it says so, in a list of nodes at the head of the buffer and with a flag
//     for each entry; all ranks copy out in the order of that list
//
// The invitation, or the message itself, is all that says that a master is there. A node posts n-1
// messages of p^2 blocks over n-1 connections, and takes (2n-1)mp^2 bytes of shared memory and the
// list.
//
// Source: Qian 2010 (6.4.4).

#include <cstdint>
#include <cstring>

#include "algos/algorithms.hpp"
#include "algos/patterns/leaders.hpp"
#include "algos/patterns/node_steps.hpp"
#include "algos/patterns/shared_buffer.hpp"
#include "engine/collective/staging.hpp"
#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

std::size_t list_bytes(std::size_t nodes) {
  constexpr std::size_t line = 64;
  return (nodes * sizeof(std::uint32_t) + line - 1) / line * line;
}

struct in_node {
  context& me;
  const arguments& call;
  std::size_t here;  // this node
  std::size_t nodes;
  node_matrix pieces;
  std::span<std::byte> shared;  // the master's: list, send buffer, receive buffer
  track staged;                 // item 0: a rank's blocks are in the send buffer
  track received;               // item i: so is the piece of the i-th node in the list

  in_node(context& me, const arguments& call)
      : me(me),
        call(call),
        here(node_number(me)),
        nodes(me.shape().nodes()),
        pieces(me.shape(), here, call.bytes()),
        staged(me, 0, signals),
        received(me, 1, signals) {}

  std::size_t bytes() const { return list_bytes(nodes) + 2 * pieces.bytes(); }
  std::span<std::byte> piece_sent(std::size_t node) const {
    return pieces.of_node(shared.subspan(list_bytes(nodes)), node);
  }
  std::span<std::byte> piece_received(std::size_t node) const {
    return pieces.of_node(shared.subspan(list_bytes(nodes) + pieces.bytes()), node);
  }
  std::span<std::byte> entry(std::size_t i) const {
    return shared.subspan(i * sizeof(std::uint32_t), sizeof(std::uint32_t));
  }
  void enlist(std::size_t i, std::size_t node) const {
    const auto number = static_cast<std::uint32_t>(node);
    std::memcpy(entry(i).data(), &number, sizeof number);
  }
  std::size_t enlisted(std::size_t i) const {
    std::uint32_t number = 0;
    std::memcpy(&number, entry(i).data(), sizeof number);
    return number;
  }
  /// The masters after this one whose pieces go in place, or do not.
  pooled_list<std::size_t> masters(bool in_place) const {
    pooled_list<std::size_t> found;
    for (std::size_t step = 1; step < nodes; ++step) {
      const std::size_t node = (here + step) % nodes;
      if (me.goes_in_place(pieces.bytes_of(node)) == in_place) {
        found.push_back(leader_of(me.shape(), node));
      }
    }
    return found;
  }
};

task<> stage(in_node& in) {
  const auto sent = [&](std::size_t rank) { return in.call.sent_to(rank); };
  for (std::size_t step = 0; step < in.nodes; ++step) {
    const std::size_t node = (in.here + step) % in.nodes;
    co_await stage_piece(in.me, in.pieces, in.piece_sent(node), node, sent);
  }
  in.staged.post(0);
}

task<> copy_out(in_node& in) {
  co_await in.staged.all_here(0);
  co_await copy_out_piece(in.me, in.call, in.pieces, in.piece_sent(in.here), in.here);
}

task<> copy_out_of(in_node& in, std::size_t node) {
  co_await copy_out_piece(in.me, in.call, in.pieces, in.piece_received(node), node);
}

task<> send_to(in_node& in, std::size_t master) {
  co_await in.me.deliver(master, in.piece_sent(in.me.shape().node_of(master)));
}

task<> send(in_node& in, peer_arrivals& invitations) {
  for (const std::size_t master : in.masters(false)) co_await send_to(in, master);
  while (const auto master = co_await invitations.next()) co_await send_to(in, *master);
}

task<> receive(in_node& in) {
  co_await copy_out(in);
  auto masters = in.masters(false);
  for (const std::size_t master : in.masters(true)) masters.push_back(master);
  peer_arrivals here = in.me.messages_from(std::move(masters));
  for (std::size_t i = 0; const auto master = co_await here.next(); ++i) {
    const std::size_t node = in.me.shape().node_of(*master);
    co_await in.me.collect(*master, in.piece_received(node));
    in.enlist(i, node);
    in.received.post(i);
    co_await copy_out_of(in, node);
  }
}

task<> lead(in_node& in) {
  for (const std::size_t master : in.masters(true)) {
    co_await in.me.invite(master, in.pieces.bytes_of(in.me.shape().node_of(master)));
  }
  co_await stage(in);
  co_await in.staged.all_here(0);
  peer_arrivals invitations = in.me.invitations_from(in.masters(true));
  auto outgoing = send(in, invitations);
  auto incoming = receive(in);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

task<> follow(in_node& in) {
  co_await stage(in);
  co_await copy_out(in);
  for (std::size_t i = 0; i + 1 < in.nodes; ++i) {
    co_await in.received.arrived(0, i);
    co_await copy_out_of(in, in.enlisted(i));
  }
  in.received.take(0);
}

task<> run(context& me, const arguments& call) {
  in_node in(me, call);
  if (!is_leader(me)) {
    me.arrive();
    in.shared = co_await me.staging_of(0, in.bytes());
    co_return co_await follow(in);
  }
  staging shared(me, in.bytes());
  in.shared = shared.bytes();
  me.publish(shared.announcement());
  co_await lead(in);
  co_await in.received.taken(0);
  shared.release();
}

bool suits(const shape& ranks, const machine&, const arguments& call) {
  return fits_into_shared_buffer(list_bytes(ranks.nodes()) + 2 * most_bytes_of_pieces(ranks, call));
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = of.nodes - 1;
  const std::size_t piece = of.ranks_a_node * of.ranks_a_node * call.bytes();
  return {.messages = messages,
          .bytes = messages * piece,
          .connections = messages,
          .memory = (of.nodes + messages) * piece};
}

}  // namespace

const algorithm alltoall_pap_shm_direct = {
    .id = "pap_shm_direct",
    .what = collective::alltoall,
    .summary = "masters serve whoever has come, ranks copy out whatever has come",
    .source = "Qian 6.4.4",
    .formula = "n-1 messages of p^2m bytes, n-1 connections, (2n-1)p^2m bytes shared",
    .costs = costs,
    .suits = suits,
    .stages = signal_stages,
    .run = run,
};

}  // namespace muster::algos
