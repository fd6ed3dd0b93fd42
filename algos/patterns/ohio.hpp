#pragma once

#include "algos/patterns/leaders.hpp"
#include "algos/patterns/node_steps.hpp"
#include "algos/patterns/shared_buffer.hpp"
#include "engine/collective/staging.hpp"
#include "engine/coro/when_all.hpp"

/// What OHIO's three designs share: who stages, exchanges and copies out when. A design, made from
/// `ohio_frame`, says where, and in which messages:
///
///     std::size_t bytes() const           of the node's shared memory
///     task<> stage()                      this rank's blocks
///     task<> exchange(step)               a leader's pieces, as soon as there is room
///     block_from(step, source)            where the block from a rank lies that came in a step
namespace muster::algos {

struct ohio_frame {
  context& me;
  const arguments& call;
  std::size_t here;     // this node
  std::size_t nodes;    // n
  std::size_t leaders;  // g; leader j serves the steps j + 1, j + 1 + g …
  node_matrix pieces;
  std::span<std::byte> shared;  // the first leader's
  track staged;                 // item 0: a rank's blocks are in the shared send buffer
  track received;  // item s - 1: a leader has the piece of step s; taken with item s: copied out

  ohio_frame(context& me, const arguments& call)
      : me(me),
        call(call),
        here(node_number(me)),
        nodes(me.shape().nodes()),
        leaders(leaders_everywhere(me.shape(), call.how.groups)),
        pieces(me.shape(), here, call.bytes()),
        staged(me, 0, signals),
        received(me, 1, signals) {}

  std::size_t to(std::size_t step) const { return node_sent_to(me.shape(), here, step); }
  std::size_t from(std::size_t step) const { return node_received_from(me.shape(), here, step); }
  /// The leader of another node that does what this one does here.
  std::size_t peer_in(std::size_t node) const { return me.shape().ranks_of(node)[me.node_index()]; }
};

/// Copies out what came in the steps from `next` on, until `end`. The node's own blocks, step 0,
/// come straight out of the shared send buffer.
template <class Design>
task<> copy_out_steps(Design& in, std::size_t& next, std::size_t end) {
  for (; next < end; ++next) {
    if (next == 0) {
      co_await in.staged.all_here(0);
    } else {
      co_await in.received.arrived((next - 1) % in.leaders, next - 1);
    }
    for (const std::size_t source : in.me.shape().ranks_of(in.from(next))) {
      co_await in.me.copy(in.call.received_from(source), in.block_from(next, source));
    }
    in.received.take(next);
  }
}

template <class Design>
task<> exchange_and_tell(Design& in, std::size_t step) {
  co_await in.exchange(step);
  in.received.post(step - 1);
}

/// A leader copies out what came before while it exchanges.
template <class Design>
task<> lead_ohio(Design& in) {
  co_await in.staged.all_here(0);
  std::size_t copied = 0;
  for (std::size_t step = in.me.node_index() + 1; step < in.nodes; step += in.leaders) {
    auto exchange = exchange_and_tell(in, step);
    auto copying = copy_out_steps(in, copied, step);
    co_await when_all(std::move(exchange), std::move(copying));
  }
  co_await copy_out_steps(in, copied, in.nodes);
}

template <class Design>
task<> follow_ohio(Design& in) {
  std::size_t copied = 0;
  co_await copy_out_steps(in, copied, in.nodes);
}

template <class Design>
task<> take_part_in_ohio(Design& in) {
  co_await in.stage();
  in.staged.post(0);
  if (in.me.node_index() < in.leaders) {
    co_await lead_ohio(in);
  } else {
    co_await follow_ohio(in);
  }
}

template <class Design>
task<> run_ohio(context& me, const arguments& call) {
  Design in(me, call);
  if (!is_leader(me)) {
    me.arrive();
    in.shared = co_await me.staging_of(0, in.bytes());
    co_await take_part_in_ohio(in);
    co_return;
  }
  staging shared(me, in.bytes());
  in.shared = shared.bytes();
  me.publish(shared.announcement());
  co_await take_part_in_ohio(in);
  co_await in.received.taken(in.nodes - 1);
  shared.release();
}

}  // namespace muster::algos
