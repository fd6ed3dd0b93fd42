// Scatter over a binomial tree of all ranks.
//
//  1  every rank but the root receives the blocks of all ranks below it from its parent
//  2  it passes on to each child, the one with most below it first, those below that child
//  3  it keeps its own
//
// ⌈log2 N⌉ steps; the root sends every block but its own once, others travel further in halves.
// Where ranks go round from N-1 to 0 a message is two, so that the root sends from where blocks
// lie.
//
// Source: the binomial tree of Tipparaju, Nieplocha, Panda 2003 (2.1), with less to carry at each
// level.

#include "algos/algorithms.hpp"
#include "algos/patterns/binomial_blocks.hpp"
#include "algos/patterns/suitability.hpp"

namespace muster::algos {
namespace {

/// Blocks of members from `member` on, at the root where they lie.
task<> send_from_root(context& me, const arguments& call, const binomial_tree& tree,
                      std::size_t member, std::size_t count) {
  const std::size_t to = tree.rank_of(member);
  const std::size_t first = tree.before_wrap(member, count);
  co_await me.deliver(to, {call.sent_to(to).data(), first * call.bytes()});
  if (first == count) co_return;
  co_await me.deliver(to, {call.sent_to(0).data(), (count - first) * call.bytes()});
}

task<> receive_from_parent(context& me, const arguments& call, const binomial_tree& tree,
                           std::span<std::byte> blocks) {
  const std::size_t count = tree.below(tree.mine(), tree.step_up());
  // Only the root sends from a buffer in which ranks go round.
  const bool from_root = tree.mine() == tree.step_up();
  const std::size_t first = from_root ? tree.before_wrap(tree.mine(), count) : count;
  co_await me.expect(tree.parent(), blocks.first(first * call.bytes()));
  if (first == count) co_return;
  co_await me.expect(tree.parent(), blocks.subspan(first * call.bytes()));
}

task<> run(context& me, const arguments& call) {
  const binomial_tree tree(me, call.root);
  const bool is_root = me.rank() == call.root;
  const std::size_t mine = tree.mine();
  const std::size_t count = tree.below(mine, tree.step_up());
  me.arrive();
  const std::size_t held = is_root || count == 1 ? 0 : count * call.bytes();
  const std::span<std::byte> blocks = count == 1 && !is_root ? call.result() : me.scratch(held);
  if (!is_root) co_await receive_from_parent(me, call, tree, blocks);
  for (std::size_t bit = tree.step_up() / 2; bit != 0; bit /= 2) {
    if (!tree.has_child(bit)) continue;
    const std::size_t below = tree.below(mine + bit, bit);
    if (is_root) {
      co_await send_from_root(me, call, tree, bit, below);
    } else {
      co_await me.deliver(tree.rank_of(mine + bit),
                          blocks.subspan(bit * call.bytes(), below * call.bytes()));
    }
  }
  if (is_root) {
    if (!call.in_place()) co_await me.copy(call.result(), call.sent_to(me.rank()));
  } else {
    co_await me.copy(call.result(), blocks.first(call.bytes()));
  }
}

}  // namespace

const algorithm scatter_binomial = {
    .id = "binomial",
    .what = collective::scatter,
    .summary = "halves of the blocks down a binomial tree",
    .source = "SRM 2.1",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
