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

inline message_length brief(const shape&, const machine&, const arguments&) {
  return message_length::brief;
}

inline message_length by_contribution(const shape& ranks, const machine&, const arguments& call) {
  return contributed_bytes(ranks, call) <= wire::item_bytes ? message_length::lengthy
                                                            : message_length::very_long;
}

}  // namespace muster::algos
