// Allreduce over nodes where the order is free: whatever has come is combined.
//
//  1  the ranks of a node lend or stage their contributions, segment by segment
//  2  the leader combines them, and what comes from the nodes below it in a binomial tree, as they
//     come, and hands the sum up
//  3  the first node's goes the same tree down, to whoever is ready for it first, so that all have
//     the same
//  4  the leader stages it, and the ranks of its node copy it out
//
// 2⌈log2 n⌉ steps between nodes. Nobody waits for one who is late while there is something to
// combine: when the last comes, only its own is left to do on its way up, where recursive doubling
// has all leaders wait for it in every step after.
//
// Source: the pipeline of Tipparaju, Nieplocha, Panda 2003 (2.4), with the notices of arrival of
// Qian 2010 (6.4).

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/leaders.hpp"
#include "algos/patterns/node/node_reduce.hpp"
#include "algos/patterns/trees/speaker_tree.hpp"

namespace muster::algos {
namespace {

task<> hand_down(context& me, const speaker_tree& tree, std::span<std::byte> sum) {
  if (!tree.is_root()) co_await me.expect(tree.parent(), sum);
  pooled_list<task<>> all;
  for (const std::size_t child : tree.children()) all.push_back(me.send(child, sum));
  co_await when_all(std::move(all));
}

task<> lead(context& me, const arguments& call, pipeline& in, pipeline& out) {
  speaker_tree tree(me, leader_of(me.shape(), 0));
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    const std::size_t offset = in.cut().offset(k);
    const std::span<std::byte> sum = call.result().subspan(offset, in.cut().length(k));
    co_await me.copy(sum, call.contribution().subspan(offset, sum.size()));
    co_await tree.combine(in, k, sum);
    co_await hand_down(me, tree, sum);
    co_await share_with_node(me, out, sum, k);
  }
  if (call.count == 0) co_await leaders_barrier(me);
}

task<> run(context& me, const arguments& call) { return allreduce_by_leaders(me, call, lead); }

}  // namespace

const algorithm allreduce_early_tree = {
    .id = "early_tree",
    .what = collective::allreduce,
    .summary = "up and down a tree of nodes, local peers and nodes below combined as they come",
    .source = "SRM 2.4, Qian 6.4",
    .suits = any_team_as_they_come,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
