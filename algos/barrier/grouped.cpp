// Barrier in the memory of a large node.
//
//  1  every rank but the leaders announces its arrival
//  2  a leader waits for the members of its group, then announces that all of it is there
//  3  the leaders wait for each other
//  4  each releases its group
//
// Three trips of a line, but nobody looks at more than two groups' worth of lines, and no line has
// more readers: with G groups of N/G ranks a leader reads N/G + G - 2 lines, all others one.
//
// Source: the flat tree of Tipparaju, Nieplocha, Panda 2003 (2.2) with a second level, whose roots
// exchange flags instead of electing one.

#include "algos/algorithms.hpp"
#include "algos/patterns/node/group_leaders.hpp"

namespace muster::algos {
namespace {

stage_kind one_pipeline(const shape&, const machine&, const arguments&) {
  return stage_kind::lengthy;  // for the pipeline that releases
}

task<> run(context& me, const arguments&) {
  const groups& parts = near_groups(me.shape());
  pipeline release(me, 0, segments(0, 1));
  if (!parts.is_leader(me.rank())) {
    me.arrive();
    co_await release.arrived(parts.leader_of(me.rank()), 0);
    co_return;
  }
  co_await me.all_here(parts.members_with(me.rank()));
  me.arrive();
  co_await me.all_here(parts.leaders());
  release.post(0);
}

}  // namespace

const algorithm barrier_grouped = {
    .id = "grouped",
    .what = collective::barrier,
    .summary = "groups of near ranks check in with leaders, who see each other and release them",
    .source = "SRM 2.2",
    .needs = "one node",
    .suits = one_node,
    .pays = pays_with_many,
    .stages = one_pipeline,
    .run = run,
};

}  // namespace muster::algos
