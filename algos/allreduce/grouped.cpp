// Short allreduce in the memory of a large node.
//
//  1  every rank stages its contribution
//  2  a leader waits for its group, combines what it contributes, and stages that
//  3  the leaders wait for each other, and each combines what they have
//  4  each stages the result, and its group copies it out
//
// Three trips of a line instead of one, but a leader reads N/G + G - 2 lines and all others one,
// instead of N - 1. Where combining by groups would change the bits (sums of floating-point
// values), leaders only collect in step 2, and combine N blocks in step 3.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.4), with groups for nodes, and every leader a root.

#include "algos/algorithms.hpp"
#include "algos/patterns/node/group_leaders.hpp"

namespace muster::algos {
namespace {

stage_kind two_pipelines(const shape&, const machine&, const arguments&) {
  return stage_kind::lengthy;
}

// What all write fits into one segment.
task<> lead(context& me, const arguments& call, pipeline& in, pipeline& out) {
  const groups& parts = rank_groups(me.shape());
  const auto members = parts.members_with(me.rank());
  co_await in.all_here(0, members);
  std::byte* partial = co_await in.slot(0, parts.leaders());
  const auto input_of = [&](std::size_t m) {
    return m == me.rank() ? call.contribution().data() : in.piece(m, 0, 0);
  };
  co_await make_partial(me, input_of, partial);
  in.post(0);
  co_await in.all_here(0, parts.leaders());
  co_await combine_partials(me, [&](std::size_t leader) { return in.piece(leader, 0, 0); });
  std::byte* slot = co_await out.slot(0, members);
  co_await me.stage({slot, call.bytes()}, call.result());
  out.post(0);
}

task<> follow(context& me, const arguments& call, pipeline& in, pipeline& out) {
  const std::size_t leader = rank_groups(me.shape()).leader_of(me.rank());
  std::byte* slot = co_await in.slot(0, leader);
  co_await me.stage({slot, call.bytes()}, call.contribution());
  in.post(0);
  co_await out.arrived(leader, 0);
  co_await out.copy(leader, 0, 0, call.result());
}

task<> run(context& me, const arguments& call) {
  pipeline in(me, 0, segments(call.bytes(), 1));
  pipeline out(me, 1, segments(call.bytes(), 1));
  me.arrive();
  if (rank_groups(me.shape()).is_leader(me.rank())) {
    co_await lead(me, call, in, out);
  } else {
    co_await follow(me, call, in, out);
  }
}

}  // namespace

const algorithm allreduce_grouped = {
    .id = "grouped",
    .what = collective::allreduce,
    .summary = "leaders combine or collect their group's contributions, then each all of theirs",
    .source = "SRM 2.4",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_partials,
    .pays = reduction_pays_with_many,
    .stages = two_pipelines,
    .run = run,
};

}  // namespace muster::algos
