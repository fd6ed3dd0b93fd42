#pragma once

#include <muster/coro/when_all.hpp>

#include "algos/patterns/node/node_alltoall.hpp"
#include "algos/patterns/node/node_steps.hpp"

/// What OHIO's three designs share: who stages, exchanges and copies out when. A design, made from
/// `ohio_frame`, says where, and in which messages:
///
///     std::size_t bytes() const           of the node's buffer
///     task<> stage()                      this rank's blocks
///     task<> invite(step)                 a leader's, for its piece, as soon as there is room
///     task<> exchange(step)               a leader's pieces
///     task<> copy_out(step)               what came in a step; in step 0 the node's own blocks
namespace muster::algos {

struct ohio_frame : node_alltoall {
  std::size_t leaders;  // g; leader j serves the steps j + 1, j + 1 + g …

  ohio_frame(context& me, const arguments& call)
      : node_alltoall(me, call), leaders(leaders_everywhere(me.shape(), call.how.groups)) {}

  std::size_t to(std::size_t step) const { return node_sent_to(me.shape(), here(), step); }
  std::size_t from(std::size_t step) const { return node_received_from(me.shape(), here(), step); }
  /// The leader of another node that does what this one does here.
  std::size_t peer_in(std::size_t node) const { return me.shape().ranks_of(node)[me.node_index()]; }
};

/// Copies out what came in the steps from `next` on, until `end`. The node's own blocks, step 0,
/// come straight out of the send buffer.
template <class Design>
task<> copy_out_steps(Design& in, std::size_t& next, std::size_t end) {
  for (; next < end; ++next) {
    if (next == 0) {
      co_await in.filled.all_here(0);
    } else {
      co_await in.received.arrived((next - 1) % in.leaders, next - 1);
    }
    co_await in.copy_out(next);
    in.received.take(next);
  }
}

template <class Design>
task<> exchange_and_tell(Design& in, std::size_t step) {
  co_await in.exchange(step);
  in.received.post(step - 1);
}

/// Copies out what came before a leader's step, so that the piece of its next one may come: the
/// invitation need not wait behind a long message.
template <class Design>
task<> make_room(Design& in, std::size_t& copied, std::size_t step) {
  co_await copy_out_steps(in, copied, step);
  const std::size_t next = step + in.leaders;
  if (next < in.nodes()) co_await in.invite(next);
}

/// A leader copies out what came before while it exchanges.
template <class Design>
task<> lead_ohio(Design& in) {
  const std::size_t first = in.me.node_index() + 1;
  if (first < in.nodes()) co_await in.invite(first);
  co_await in.filled.all_here(0);
  std::size_t copied = 0;
  for (std::size_t step = first; step < in.nodes(); step += in.leaders) {
    auto exchange = exchange_and_tell(in, step);
    auto copying = make_room(in, copied, step);
    co_await when_all(std::move(exchange), std::move(copying));
  }
  co_await copy_out_steps(in, copied, in.nodes());
}

template <class Design>
task<> follow_ohio(Design& in) {
  std::size_t copied = 0;
  co_await copy_out_steps(in, copied, in.nodes());
}

template <class Design>
task<> take_part_in_ohio(Design& in) {
  co_await in.stage();
  in.filled.post(0);
  if (in.me.node_index() < in.leaders) {
    co_await lead_ohio(in);
  } else {
    co_await follow_ohio(in);
  }
}

template <class Design>
task<> run_ohio(context& me, const arguments& call) {
  Design in(me, call);
  co_await with_node_buffer(in, in.bytes(), in.nodes() - 1, take_part_in_ohio<Design>);
}

}  // namespace muster::algos
