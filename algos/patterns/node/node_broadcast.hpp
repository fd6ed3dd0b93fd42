#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <muster/run/context.hpp>

/// A broadcast over nodes, piece by piece: one rank of each speaks for it, receives a piece, passes
/// it on, and shares it with its local peers.
namespace muster::algos {

/// Where a rank that speaks for its node is in the tree of all that do.
struct tree_place {
  std::optional<std::size_t> parent;               ///< whom it receives from; of the root nobody
  pooled_list<pooled_list<std::size_t>> children;  ///< whom it sends to, so many at once
};

/// Sends a piece to all children.
task<> pass_on(context& me, const tree_place& place, std::span<const std::byte> piece);

struct node_broadcast {
  context& me;
  const arguments& call;
  pipeline pieces;   ///< the speaker's
  tree_place place;  ///< a speaker's

  node_broadcast(context& me, const arguments& call, const segments& cut);

  std::size_t count() const { return pieces.cut().count(); }
  std::span<std::byte> piece(std::size_t k) const {
    return call.result().subspan(pieces.cut().offset(k), pieces.cut().length(k));
  }
};

/// The part of the one who speaks for the node.
///
/// A short message, up to 64 KiB, comes straight into the stage, for all of the node at once. A
/// long one goes past all stages into the speaker's memory, and the node's part follows a piece
/// behind, while the next comes.
task<> speak(node_broadcast& in);
/// That of its local peers. `speaker`: by place in the node.
task<> listen(node_broadcast& in, std::size_t speaker);

}  // namespace muster::algos
