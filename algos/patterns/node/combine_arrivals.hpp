#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

/// Combining what the ranks of a node contribute: in rank order when all is there, or, where the
/// order is free, whatever has come so far while the rest is on its way.
namespace muster::algos {

/// Whether contributions may be combined as they come: the call allows it, or nobody could tell.
inline bool combines_as_they_come(const arguments& call) noexcept {
  return !call.combines_by_rank() || is_exact(call.op, call.type);
}

/// What the local peers published, each `bytes` long, from `offset` on.
struct published_inputs {
  context& me;
  std::size_t bytes;
  std::size_t offset = 0;

  everybody all_here() const noexcept { return me.all_here(); }
  local_peer_arrivals here() const noexcept { return me.here(); }
  bool was_here(std::size_t) const noexcept { return false; }
  const std::byte* of(std::size_t local_peer) const noexcept {
    return me.published(local_peer, bytes).data() + offset;
  }
};

/// A segment of a pipeline: `staged_offset` bytes into its room, or `lent_offset` bytes on from
/// where the segment begins in a lender's contribution.
struct segment_inputs {
  pipeline& on;
  std::size_t segment;
  std::size_t staged_offset = 0;
  std::size_t lent_offset = 0;

  everybody all_here() const noexcept { return on.all_here(segment); }
  local_peer_arrivals here() const noexcept { return on.here(segment); }
  /// Lenders are among the arrivals of the first segment only.
  bool was_here(std::size_t local_peer) const noexcept {
    return segment > 0 && on.lends(local_peer);
  }
  const std::byte* of(std::size_t local_peer) const noexcept {
    return on.piece(local_peer, segment, 0) + (on.lends(local_peer) ? lent_offset : staged_offset);
  }
};

/// Combines `input(i)` of all local peers, who are there, in rank order.
template <class Input>
wire::work_wait combine_each(context& me, const Input& input, std::byte* to, std::size_t count,
                             std::span<const std::byte*> room) {
  for (std::size_t i = 0; i < room.size(); ++i) room[i] = input(i);
  return me.combine(to, room, count);
}
template <class Input>
[[gnu::noinline]] wire::work_wait combine_many(context& me, Input input, std::byte* to,
                                               std::size_t count) {
  pooled<const std::byte*> room(me.node().size());
  return combine_each(me, input, to, count, {room.data(), me.node().size()});
}
template <class Input>
[[gnu::always_inline]] inline wire::work_wait combine_each(context& me, Input input, std::byte* to,
                                                           std::size_t count) {
  constexpr std::size_t few = 16;  // cost nothing on the stack
  const std::size_t local_peers = me.node().size();
  if (local_peers > few) [[unlikely]] {
    return combine_many(me, input, to, count);
  }
  std::array<const std::byte*, few> room;
  return combine_each(me, input, to, count, std::span(room).first(local_peers));
}

/// Combines what all local peers contribute, who are there, in rank order, `own` in this rank's
/// place.
template <class Inputs>
wire::work_wait combine_by_rank(context& me, const Inputs& from, const std::byte* own,
                                std::byte* to, std::size_t count) {
  return combine_each(
      me,
      [from, own, self = me.node_index()](std::size_t i) { return i == self ? own : from.of(i); },
      to, count);
}

/// Waits for the inputs of all local peers and combines them, `own` in this rank's place, into
/// `to`, which may be `own`. Where they are combined as they come, all that is there goes in at
/// once, so that whoever comes last finds it done in a single pass.
template <class Inputs>
task<> combine_arrivals(context& me, Inputs from, const std::byte* own, std::byte* to,
                        std::size_t count) {
  const std::size_t local_peers = me.node().size();
  if (!combines_as_they_come(me.call())) {
    co_await from.all_here();
    co_await combine_by_rank(me, from, own, to, count);
    co_return;
  }
  pooled<const std::byte*> inputs(local_peers);
  std::size_t waiting = 0;  // inputs that are here and not yet in the result
  inputs[waiting++] = own;
  for (std::size_t i = 0; i < local_peers; ++i) {
    if (i != me.node_index() && from.was_here(i)) inputs[waiting++] = from.of(i);
  }
  auto here = from.here();
  while (const auto next = co_await here.next()) {
    inputs[waiting++] = from.of(*next);
    if (here.seen() != 0) continue;
    co_await me.combine(to, {inputs.data(), waiting}, count);
    inputs[0] = to;
    waiting = 1;
  }
  const bool all_in = waiting == 1 && inputs[0] == to;
  if (!all_in) co_await me.combine(to, {inputs.data(), waiting}, count);
}

}  // namespace muster::algos
