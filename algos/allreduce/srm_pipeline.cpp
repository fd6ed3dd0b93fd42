// Long allreduce over nodes, a pipeline of four stages.
//
//  1  the leader combines its node's contributions to an item, which their ranks lend or stage
//  2  the leaders combine their nodes' results over a binomial tree towards the first node
//  3  the result goes the same tree back
//  4  the leader stages it, and the ranks of its node copy it out
//
// In every step a leader has an item in each stage: 2⌈log2 n⌉ messages between nodes for an item on
// its longest way, where recursive doubling has half as many, but they travel while others are
// combined and copied, and all nodes but the first send an item up only once.
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

/// Of the allreduce, as a leader sees it. What an item adds up to so far lies where its result
/// will.
struct pipeline {
  context& me;
  const arguments& call;
  track& in;
  track& out;
  binomial_tree nodes;

  std::size_t count() const { return in.cut().count(); }
  std::span<std::byte> place(std::size_t item) const {
    return call.result().subspan(in.cut().offset(item), in.cut().length(item));
  }
};

task<> combine_own_node(pipeline& of, std::size_t item) {
  return combine_node(of.me, of.in, of.call.contribution(), item, of.place(item));
}

task<> combine_nodes(pipeline& of, std::size_t item) {
  return leaders_reduce(of.me, of.place(item));
}

task<> hand_down(pipeline& of, std::size_t item) {
  const auto leader = [&](std::size_t node) { return leader_of(of.me.shape(), node); };
  if (!of.nodes.is_root()) co_await of.me.expect(leader(of.nodes.parent()), of.place(item));
  for (const auto& child : of.nodes.children()) {
    co_await of.me.deliver(leader(of.nodes.number_of(child.member)), of.place(item));
  }
}

task<> share(pipeline& of, std::size_t item) {
  if (of.me.node().size() == 1) co_return;
  co_await share_with_node(of.me, of.out, of.place(item), item);
}

task<> lead(pipeline& of) {
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
  const items cut(call.bytes(), 1, items::in_step, call.grain());
  track in(me, 0, cut);
  track out(me, 1, cut);
  me.arrive();
  if (!is_leader(me)) co_return co_await contribute_and_collect(me, call, in, out);
  pipeline of{me, call, in, out, binomial_tree(me.shape().nodes(), 0, node_number(me), 1)};
  co_await lead(of);
}

}  // namespace

const algorithm allreduce_srm_pipeline = {
    .id = "srm_pipeline",
    .what = collective::allreduce,
    .summary = "node reduce, tree up and tree down between leaders, node broadcast, all at once",
    .source = "SRM 2.4",
    .suits = combines_by_node,
    .stages = track_stages,
    .run = run,
};

}  // namespace muster::algos
