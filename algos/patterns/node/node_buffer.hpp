#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include <muster/run/context.hpp>
#include <muster/run/shared_scratch.hpp>

#include "algos/patterns/node/leaders.hpp"

/// What algorithms share that stage in a buffer of their node, which all its ranks write and read.
namespace muster::algos {

/// Of pipelines whose segments are notices alone.
inline const segments signals(0, 1);

/// For algorithms with such pipelines.
inline stage_kind signal_stages(const shape&, const machine&, const arguments&) {
  return stage_kind::lengthy;
}

/// Whether as many such buffers fit into half of a rank's memory as there may be operations in
/// flight; the other half is for what else it provides.
inline bool fits_into_node_buffer(const machine& seen, std::size_t bytes) {
  constexpr std::size_t in_flight = 8;
  const std::size_t most = seen.shared_scratch_bytes / 2 / in_flight;
  return bytes <= most && std::bit_ceil(bytes) <= most;  // sizes are powers of two
}

/// The buffer during one operation, as a rank of the node sees it. The node's first rank provides
/// it.
struct node_buffer {
  context& me;
  const arguments& call;
  std::span<std::byte> shared;
  pipeline filled;  ///< posted: what a rank itself puts in is there
  pipeline
      received;  ///< posted: so is what came from other nodes; taken: a rank has copied that out

  node_buffer(context& me, const arguments& call)
      : me(me), call(call), filled(me, 0, signals), received(me, 1, signals) {}

  std::size_t here() const noexcept { return node_number(me); }
  std::size_t nodes() const noexcept { return me.shape().nodes(); }
  /// Nodes as they follow this one, or go before it, going round.
  std::size_t node_ahead(std::size_t steps) const noexcept { return (here() + steps) % nodes(); }
  std::size_t node_back(std::size_t steps) const noexcept {
    return (here() + nodes() - steps) % nodes();
  }
  std::size_t leader(std::size_t node) const noexcept { return leader_of(me.shape(), node); }
};

/// A rank's `part`, a task made of its view, with a buffer of so many bytes that is there until all
/// ranks of the node have taken segment `last` of `received`.
template <class Buffer, class Part>
task<> with_node_buffer(Buffer& in, std::size_t bytes, std::size_t last, Part part) {
  if (!is_leader(in.me)) {
    in.me.arrive();
    in.shared = co_await in.me.shared_scratch_of(0, bytes);
    co_await part(in);
    co_return;
  }
  shared_scratch provided(in.me, bytes);
  in.shared = provided.bytes();
  provided.announce();
  co_await part(in);
  co_await in.received.taken(last);
  provided.release();
}

}  // namespace muster::algos
