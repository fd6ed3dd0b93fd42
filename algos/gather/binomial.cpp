// Gather over a binomial tree of all ranks.
//
//  1  every rank receives from each child, the one with fewest below it first, the blocks of all
//     ranks below that child; the root receives them where they belong
//  2  it sends what it holds, its own block first, to its parent
//
// ⌈log2 N⌉ steps; the root receives every block but its own once. Where ranks go round from N-1 to
// 0 a message to the root is two, so that each lies in one place there.
//
// Source: the binomial tree of Tipparaju, Nieplocha, Panda 2003 (2.1), with more to carry at each
// level.

#include "algos/algorithms.hpp"
#include "algos/patterns/binomial_blocks.hpp"
#include "algos/patterns/suitability.hpp"

namespace muster::algos {
namespace {

/// Blocks of members from `member` on, at the root where they belong.
task<> receive_at_root(context& me, const arguments& call, const binomial_tree& tree,
                       std::size_t member, std::size_t count) {
  const std::size_t from = tree.rank_of(member);
  const std::size_t first = tree.before_wrap(member, count);
  co_await me.expect(from, {call.received_from(from).data(), first * call.bytes()});
  if (first == count) co_return;
  co_await me.expect(from, {call.received_from(0).data(), (count - first) * call.bytes()});
}

task<> send_to_parent(context& me, const arguments& call, const binomial_tree& tree,
                      std::span<const std::byte> blocks) {
  const std::size_t count = tree.below(tree.mine(), tree.step_up());
  // Only the root receives into a buffer in which ranks go round.
  const bool to_root = tree.mine() == tree.step_up();
  const std::size_t first = to_root ? tree.before_wrap(tree.mine(), count) : count;
  co_await me.deliver(tree.parent(), blocks.first(first * call.bytes()));
  if (first == count) co_return;
  co_await me.deliver(tree.parent(), blocks.subspan(first * call.bytes()));
}

task<> run(context& me, const arguments& call) {
  const binomial_tree tree(me, call.root);
  const bool is_root = me.rank() == call.root;
  const std::size_t mine = tree.mine();
  const std::size_t count = tree.below(mine, tree.step_up());
  me.arrive();
  const auto own = call.own_block(me.rank());
  if (is_root) co_await me.copy(call.received_from(me.rank()), own);
  const std::span<std::byte> blocks = me.scratch(is_root || count == 1 ? 0 : count * call.bytes());
  if (!blocks.empty()) co_await me.copy(blocks.first(own.size()), own);
  for (std::size_t bit = 1; bit < tree.step_up(); bit *= 2) {
    if (!tree.has_child(bit)) continue;
    const std::size_t below = tree.below(mine + bit, bit);
    if (is_root) {
      co_await receive_at_root(me, call, tree, bit, below);
    } else {
      co_await me.expect(tree.rank_of(mine + bit),
                         blocks.subspan(bit * call.bytes(), below * call.bytes()));
    }
  }
  if (!is_root) co_await send_to_parent(me, call, tree, count == 1 ? own : blocks);
}

}  // namespace

const algorithm gather_binomial = {
    .id = "binomial",
    .what = collective::gather,
    .summary = "growing stretches of blocks up a binomial tree",
    .source = "SRM 2.1",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
