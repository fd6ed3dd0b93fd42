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

/// For algorithms that publish and of which some ranks wait for nobody, or that publish nothing.
inline stage_kind one_way_stages(const shape&, const machine&, const arguments&) {
  return stage_kind::one_way;
}

/// For algorithms that publish and of which every rank waits for every other.
inline stage_kind exchange_stages(const shape& ranks, const machine&, const arguments& call) {
  // What fits beside the arrivals needs no stage at all.
  return contributed_bytes(ranks, call) <= wire::inline_bytes ? stage_kind::one_way
                                                              : stage_kind::exchanged;
}

/// For algorithms with tracks.
inline stage_kind track_stages(const shape& ranks, const machine&, const arguments& call) {
  constexpr std::size_t lengthy = 128 * 1024;
  return contributed_bytes(ranks, call) <= lengthy ? stage_kind::lengthy : stage_kind::very_long;
}

}  // namespace muster::algos
