#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "algos/patterns/node/node_alltoall.hpp"
#include "algos/patterns/node/node_steps.hpp"

namespace muster::algos {

/// An alltoall over nodes whose steps are cut into batches. While one travels, all ranks of a node
/// stage the next, and copy out of the last. A batch has `a_batch` steps, of which leader j serves
/// every g-th from the (j+1)-th on. There are places for two batches each way; a batch uses those
/// of the last but one.
///
/// A rank posts segment k of `filled`: it has staged its blocks for batch k. A leader takes it: it
/// has sent its pieces of that. A leader posts segment s - 1 of `received`: it has the piece of
/// step s. A rank takes segment s: it has copied its blocks out of that.
struct staged_batches : node_alltoall {
  std::size_t leaders;  // g
  std::size_t a_batch;  // steps
  std::size_t places;
  std::size_t place_bytes;

  /// \param at_once steps of a batch that each leader serves
  staged_batches(context& me, const arguments& call, std::size_t leaders, std::size_t at_once);

  /// The node's own piece, and places to send from and to receive into.
  static std::size_t pieces(std::size_t nodes, std::size_t leaders, std::size_t at_once) {
    return 1 + 2 * places_for(nodes, leaders * at_once);
  }

  std::size_t bytes() const { return (1 + 2 * places) * place_bytes; }
  std::size_t batches() const { return (nodes() - 1 + a_batch - 1) / a_batch; }
  std::size_t begin_of(std::size_t batch) const { return 1 + batch * a_batch; }
  std::size_t end_of(std::size_t batch) const { return std::min(nodes(), begin_of(batch + 1)); }
  std::size_t to(std::size_t step) const { return node_sent_to(me.shape(), here(), step); }
  std::size_t from(std::size_t step) const { return node_received_from(me.shape(), here(), step); }
  /// The place of step 0 is the node's own, both ways.
  std::span<std::byte> piece_sent(std::size_t step) const;
  std::span<std::byte> piece_received(std::size_t step) const;

  /// Copies this rank's blocks for a step, or a batch, into the pieces that are sent.
  task<> stage_step(std::size_t step);
  task<> stage_batch(std::size_t batch);
  /// Copies its blocks out of what came in a batch.
  task<> copy_out_batch(std::size_t batch);
  /// What every rank does while a batch travels.
  task<> stage_and_copy_out(std::size_t batch);

private:
  static std::size_t places_for(std::size_t nodes, std::size_t a_batch) {
    return std::min(2 * a_batch, nodes - 1);
  }
  std::size_t leader_in(std::size_t step) const { return (step - 1) % leaders; }
  task<> copy_out_step(std::size_t step);
};

}  // namespace muster::algos
