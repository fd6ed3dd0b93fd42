#pragma once

#include <muster/run/context.hpp>

#include "algos/patterns/call/suitability.hpp"

/// What the algorithms for large nodes share, in which ranks look at their group and its leader
/// only, and leaders at each other.
namespace muster::algos {

/// From here on a detour over leaders takes less time than everybody's looking at everybody; see
/// docs/decisions/15-groups.md.
inline constexpr std::size_t grouped_from = 24;
/// A broadcast has one line to be looked at by all: there it takes more of them.
inline constexpr std::size_t grouped_bcast_from = 48;

/// Whether there are so many ranks, each with a core of its own: where ranks take turns on a core,
/// a detour costs a turn, and lines are cheap beside it.
inline bool crowd_of(std::size_t least, const shape& ranks, const machine& measured) {
  return ranks.size() >= least && ranks.size() <= measured.processors;
}
inline bool pays_with_many(const shape& ranks, const machine& measured, const arguments&) {
  return crowd_of(grouped_from, ranks, measured);
}

/// On one node a local peer is a rank, and there is one division of each kind.
inline const groups& near_groups(const shape& ranks) { return ranks.near_groups(0); }
inline const groups& rank_groups(const shape& ranks) { return ranks.rank_groups(0); }

// ---- reductions: a leader gathers what its group has to contribute, its *partial*

/// Whether contributions may be combined by group without a change in the bits of the result.
inline bool combines_by_group(const arguments& call) {
  return call.custom != nullptr || is_exact(call.op, call.type) || !call.combines_by_rank();
}
/// How many blocks a partial is: one, its members' contributions combined, or all of them.
inline std::size_t partial_blocks(const arguments& call, std::size_t members) {
  return combines_by_group(call) ? 1 : members;
}
inline std::size_t most_partial_bytes(const shape& ranks, const arguments& call) {
  return call.bytes() * partial_blocks(call, rank_groups(ranks).most_members());
}
/// For reductions whose partials fit where other short messages do.
inline bool one_node_partials(const shape& ranks, const machine& measured, const arguments& call) {
  return one_node_short(ranks, measured, call) &&
         most_partial_bytes(ranks, call) <= wire::short_stage_bytes;
}
/// Longer vectors are not worth collecting: they would be copied once more, and then it is the
/// bytes that take time, not the lines of flags.
inline bool reduction_pays_with_many(const shape& ranks, const machine& measured,
                                     const arguments& call) {
  constexpr std::size_t worth_collecting = 128;
  return crowd_of(grouped_from, ranks, measured) &&
         (combines_by_group(call) || call.bytes() <= worth_collecting);
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
