#pragma once

#include "algos/patterns/suitability.hpp"
#include "engine/collective/context.hpp"

/// What the algorithms for large nodes share, in which ranks look at their group and its leader
/// only, and leaders at each other.
namespace muster::algos {

/// From here on a detour over leaders takes less time than everybody's looking at everybody; see
/// docs/decisions/15-groups.md.
inline constexpr std::size_t grouped_from = 24;

inline bool one_large_node(const shape& ranks, const machine&, const arguments&) {
  return ranks.nodes() == 1 && ranks.size() >= grouped_from;
}
inline bool one_large_node_short(const shape& ranks, const machine& measured,
                                 const arguments& call) {
  return one_large_node(ranks, measured, call) && one_node_short(ranks, measured, call);
}

/// On one node a neighbour is a rank, and there is one division of each kind.
inline const groups& near_groups(const shape& ranks) { return ranks.near_groups(0); }
inline const groups& rank_groups(const shape& ranks) { return ranks.rank_groups(0); }

// ---- reductions: a leader gathers what its group has to contribute, its *partial*

/// How many blocks that is: one, its members' contributions combined; or, where that would change
/// the bits of the result, all of them.
inline std::size_t partial_blocks(const arguments& call, std::size_t members) {
  const bool by_group =
      call.custom != nullptr || is_exact(call.op, call.type) || !call.combines_by_rank();
  return by_group ? 1 : members;
}
inline std::size_t most_partial_bytes(const shape& ranks, const arguments& call) {
  return call.bytes() * partial_blocks(call, rank_groups(ranks).most_members());
}
/// For reductions whose partials fit where other short messages do.
inline bool one_large_node_partials(const shape& ranks, const machine& measured,
                                    const arguments& call) {
  return one_large_node(ranks, measured, call) &&
         most_partial_bytes(ranks, call) <= wire::short_stage_bytes;
}

/// Puts the partial of this rank's group to `to`. All members' contributions are there:
/// `input_of(m)` is where that of member m lies.
template <class InputOf>
task<> make_partial(context& me, InputOf input_of, std::byte* to) {
  const arguments& call = me.call();
  const auto members = rank_groups(me.shape()).members_with(me.rank());
  if (partial_blocks(call, members.size()) == 1) {
    pooled<const std::byte*> inputs(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) inputs[i] = input_of(members[i]);
    co_await me.combine(to, inputs, call.count);
    co_return;
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    co_await me.copy({to + i * call.bytes(), call.bytes()}, {input_of(members[i]), call.bytes()});
  }
}

/// Combines all partials, in rank order, into this rank's result: `partial_of(l)` is where that of
/// leader l begins.
template <class PartialOf>
wire::work_wait combine_partials(context& me, PartialOf partial_of) {
  const arguments& call = me.call();
  const groups& parts = rank_groups(me.shape());
  pooled<const std::byte*> inputs(me.size());
  std::size_t found = 0;
  for (const std::size_t leader : parts.leaders()) {
    const std::size_t blocks = partial_blocks(call, parts.members_with(leader).size());
    for (std::size_t b = 0; b < blocks; ++b) {
      inputs[found++] = partial_of(leader) + b * call.bytes();
    }
  }
  return me.combine(call.receive, std::span(inputs.data(), found), call.count);
}

}  // namespace muster::algos
