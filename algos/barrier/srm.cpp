// Barrier over nodes.
//
//  1  every rank announces its arrival in the node's memory; the leader waits for all of them
//  2  the leaders perform a dissemination barrier between nodes
//  3  the leader posts an empty segment, on which the ranks of its node wait
//
// Between n nodes: ⌈log2 n⌉ messages a leader, no payload.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.4).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/leaders.hpp"

namespace muster::algos {
namespace {

stage_kind one_pipeline(const shape&, const machine&, const arguments&) {
  return stage_kind::lengthy;  // for the pipeline that releases
}

task<> run(context& me, const arguments&) {
  pipeline release(me, 0, segments(0, 1));
  me.arrive();
  if (!is_leader(me)) {
    co_await release.arrived(0, 0);
    co_return;
  }
  co_await me.all_here();
  co_await leaders_barrier(me);
  release.post(0);
}

}  // namespace

const algorithm barrier_srm = {
    .id = "srm",
    .what = collective::barrier,
    .summary = "node check-in, dissemination between leaders, node release",
    .source = "SRM 2.4",
    .suits = any_team,
    .stages = one_pipeline,
    .run = run,
};

}  // namespace muster::algos
