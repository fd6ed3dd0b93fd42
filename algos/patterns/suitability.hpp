#pragma once

#include "engine/collective/catalog.hpp"
#include "engine/wire/board.hpp"

/// Answers that many algorithms give to "do you suit this call?" and "how long is it?".
namespace muster::algos {

/// What one rank puts into the node's memory: a vector or block, or for alltoall a block a rank.
inline std::size_t contributed_bytes(const shape& ranks, const arguments& call) noexcept {
  return call.what == collective::alltoall ? call.bytes() * ranks.size() : call.bytes();
}

inline bool any_team(const shape&, const machine&, const arguments&) { return true; }

inline bool one_node(const shape& ranks, const machine&, const arguments&) {
  return ranks.nodes() == 1;
}

inline bool one_node_brief(const shape& ranks, const machine&, const arguments& call) {
  return ranks.nodes() == 1 && contributed_bytes(ranks, call) <= wire::short_stage_bytes;
}

/// For algorithms without tracks, which publish everything at once, or nothing.
inline message_length published_length(const shape&, const machine&, const arguments&) {
  return message_length::brief;
}

/// For algorithms with tracks.
inline message_length staged_length(const shape& ranks, const machine&, const arguments& call) {
  constexpr std::size_t lengthy = 128 * 1024;
  return contributed_bytes(ranks, call) <= lengthy ? message_length::lengthy
                                                   : message_length::very_long;
}

}  // namespace muster::algos
