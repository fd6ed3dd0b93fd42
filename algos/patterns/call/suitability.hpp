#pragma once

#include <algorithm>

#include <muster/select/catalog.hpp>
#include <muster/wire/board.hpp>
#include <muster/wire/link.hpp>

/// Answers that many algorithms give to "do you suit this call?" and "which stages does it use?".
namespace muster::algos {

/// The longest of the blocks, which all ranks know, in bytes.
inline std::size_t longest_block(const block_layout& blocks, const arguments& call) {
  return *std::ranges::max_element(blocks.counts) * call.element();
}

inline bool any_team(const shape&, const machine&, const arguments&) { return true; }

inline bool one_node(const shape& ranks, const machine&, const arguments&) {
  return ranks.nodes() == 1;
}

/// For algorithms that publish whole contributions, which must fit into a short stage.
inline bool one_node_short(const shape& ranks, const machine&, const arguments& call) {
  return ranks.nodes() == 1 && call.contributed_bytes(ranks.size()) <= wire::short_stage_bytes;
}

/// For reductions that cut contributions, or each of their `blocks`, into segments: whole elements
/// must fit.
inline bool elements_fit(const arguments& call, std::size_t blocks = 1) {
  return call.grain() <= wire::segment_bytes / blocks;
}

inline bool one_node_elements_fit(const shape& ranks, const machine&, const arguments& call) {
  return ranks.nodes() == 1 && elements_fit(call);
}

/// For reductions that combine whole nodes first, and the nodes' results in their order.
inline bool combines_by_node(const shape& ranks, const machine&, const arguments& call) {
  return elements_fit(call) && (call.commutes() || ranks.nodes_are_contiguous());
}

/// For reductions that combine in another order than that of the ranks, but always the same.
inline bool any_team_commuting(const shape&, const machine&, const arguments& call) {
  return call.commutes();
}

/// Whether a message is copied on its way, whole and without an invitation: whoever receives
/// it need not know from whom it will come, and whoever sends it waits for nobody.
inline bool sent_uninvited(const machine& measured, std::size_t bytes) {
  return bytes < measured.zero_copy_from && bytes <= measured.message_piece;
}

/// For algorithms that only use messages.
inline stage_kind no_stages(const shape&, const machine&, const arguments&) {
  return stage_kind::none;
}

/// For algorithms that publish and of which some ranks wait for nobody.
inline stage_kind one_way_stages(const shape& ranks, const machine&, const arguments& call) {
  return call.contributed_bytes(ranks.size()) <= wire::inline_bytes ? stage_kind::none
                                                                    : stage_kind::one_way;
}

/// For algorithms that publish and of which every rank waits for every other.
inline stage_kind exchanged_stages(const shape& ranks, const machine&, const arguments& call) {
  return call.contributed_bytes(ranks.size()) <= wire::inline_bytes ? stage_kind::none
                                                                    : stage_kind::exchanged;
}

/// For pipelines on which a rank contributes so many bytes.
inline stage_kind stages_of_pipeline(std::size_t bytes) {
  constexpr std::size_t lengthy = 32 * 1024;
  return bytes <= lengthy ? stage_kind::lengthy : stage_kind::very_long;
}

/// For algorithms with pipelines.
inline stage_kind pipeline_stages(const shape& ranks, const machine&, const arguments& call) {
  return stages_of_pipeline(call.contributed_bytes(ranks.size()));
}

/// For algorithms with pipelines of which not all ranks know how much they will hold.
inline stage_kind unknown_pipeline_stages(const shape&, const machine&, const arguments&) {
  return stage_kind::lengthy;
}

}  // namespace muster::algos
