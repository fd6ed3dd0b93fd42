// Reduce over nodes where the order is free: whatever has come is combined.
//
//  1  the ranks of a node lend or stage their contributions, segment by segment
//  2  one speaks for the node, the root on its own, the leader elsewhere: it combines them, and
//     what comes from the nodes below it in a binomial tree, as they come, and hands the sum up
//
// ⌈log2 n⌉ steps between nodes, towards the root itself. Nobody waits for one who is late while
// there is something to combine: when the last comes, only its own is left to do on its way up.
//
// Source: the tree of Tipparaju, Nieplocha, Panda 2003 (2.1), with the notices of arrival of Qian
// 2010 (6.4).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/reduce_slices.hpp"
#include "algos/patterns/trees/speaker_tree.hpp"

namespace muster::algos {
namespace {

task<> speak(context& me, const arguments& call, speaker_tree& tree, pipeline& in) {
  const segments& cut = in.cut();
  const std::span<std::byte> partial =
      me.scratch(tree.is_root() ? 0 : std::min(cut.piece, call.bytes()));
  for (std::size_t k = 0; k < cut.count(); ++k) {
    const std::size_t length = cut.length(k);
    std::span<std::byte> sum = partial.first(tree.is_root() ? 0 : length);
    if (tree.is_root()) sum = call.result().subspan(cut.offset(k), length);
    co_await me.copy(sum, call.contribution().subspan(cut.offset(k), length));
    co_await tree.combine(in, k, sum);
  }
}

task<> contribute_all(context& me, const arguments& call, pipeline& in, std::size_t speaker) {
  in.lend(call.contribution(), pipeline::lending::for_loads);
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    co_await contribute(me, in, call.contribution(), k, speaker);
  }
  co_await in.returned(speaker);
}

task<> run(context& me, const arguments& call) {
  speaker_tree tree(me, call.root);
  pipeline in(me, 0, segments(call.bytes(), 1, segments::in_step, call.grain()));
  me.arrive();
  if (me.rank() == tree.speaker()) {
    co_await speak(me, call, tree, in);
  } else {
    co_await contribute_all(me, call, in, me.shape().index_of(tree.speaker()));
  }
}

}  // namespace

const algorithm reduce_early_tree = {
    .id = "early_tree",
    .what = collective::reduce,
    .summary = "up a tree of nodes, local peers and nodes below combined as they come",
    .source = "SRM 2.1, Qian 6.4",
    .suits = any_team_as_they_come,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
