// Long allreduce over nodes, a pipeline of four stages.
//
//  1  the leader combines its node's contributions to a segment, which their ranks lend or stage
//  2  the leaders combine their nodes' results over a binomial tree towards the first node
//  3  the result goes the same tree back
//  4  the leader stages it, and the ranks of its node copy it out
//
// In every step a leader has a segment in each stage: 2⌈log2 n⌉ messages between nodes for an
// segment on its longest way, where recursive doubling has half as many, but they travel while
// others are combined and copied, and all nodes but the first send a segment up only once.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.4, figure 5).

#include <array>

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/leaders.hpp"
#include "algos/patterns/node/node_reduce.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

/// Of the allreduce, as a leader sees it. What a segment adds up to so far lies where its result
/// will.
struct leader_part {
  context& me;
  const arguments& call;
  pipeline& in;
  pipeline& out;
  binomial_tree nodes;
  std::span<std::byte> room;  // for segments of the leaders right below

  std::size_t count() const { return in.cut().count(); }
  std::span<std::byte> place(std::size_t segment) const {
    return call.result().subspan(in.cut().offset(segment), in.cut().length(segment));
  }
};

task<> combine_own_node(leader_part& of, std::size_t segment) {
  return combine_node(of.me, of.in, of.call.contribution(), segment, of.place(segment));
}

task<> combine_nodes(leader_part& of, std::size_t segment) {
  return leaders_reduce(of.me, of.place(segment), of.room);
}

task<> hand_down(leader_part& of, std::size_t segment) {
  const auto leader = [&](std::size_t node) { return leader_of(of.me.shape(), node); };
  if (!of.nodes.is_root()) co_await of.me.expect(leader(of.nodes.parent()), of.place(segment));
  for (const auto& child : of.nodes.children()) {
    co_await of.me.send(leader(of.nodes.number_of(child.member)), of.place(segment));
  }
}

task<> share(leader_part& of, std::size_t segment) {
  if (of.me.node().size() == 1) co_return;
  co_await share_with_node(of.me, of.out, of.place(segment), segment);
}

task<> lead(leader_part& of) {
  constexpr std::array stages = {combine_own_node, combine_nodes, hand_down, share};
  for (std::size_t step = 0; step + 1 < of.count() + stages.size(); ++step) {
    pooled_list<task<>> now;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const bool busy = stage <= step && step - stage < of.count();
      if (busy) now.push_back(stages[stage](of, step - stage));
    }
    co_await when_all(std::move(now));
  }
  if (of.count() == 0) co_await leaders_barrier(of.me);
}

task<> run(context& me, const arguments& call) {
  const segments cut(call.bytes(), 1, segments::in_step, call.grain());
  pipeline in(me, 0, cut);
  pipeline out(me, 1, cut);
  me.arrive();
  if (!is_leader(me)) co_return co_await contribute_and_collect(me, call, in, out);
  const binomial_tree nodes(me.shape().nodes(), 0, node_number(me), 1);
  const auto room = room_for_leaders_below(me, std::min(cut.piece, call.bytes()));
  leader_part of{me, call, in, out, nodes, room};
  co_await lead(of);
}

}  // namespace

const algorithm allreduce_srm_pipeline = {
    .id = "srm_pipeline",
    .what = collective::allreduce,
    .summary = "node reduce, tree up and tree down between leaders, node broadcast, all at once",
    .source = "SRM 2.4",
    .suits = combines_by_node,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
