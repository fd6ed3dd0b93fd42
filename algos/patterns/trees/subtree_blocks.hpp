#pragma once

#include <cstddef>
#include <span>

#include "algos/patterns/trees/binomial_blocks.hpp"

/// Messages of a scatter or gather over a binomial tree: the blocks of a child's subtree, or those
/// of a rank's own with its parent. What a rank holds, those of its own subtree, lies in the order
/// of the members; at the root in that of the ranks.
namespace muster::algos {

/// The place of a branch's blocks in what this rank holds.
template <class Byte>
std::span<Byte> blocks_of(const binomial_tree& tree, binomial_tree::branch of,
                          std::span<Byte> held) {
  const std::size_t bytes = held.size() / tree.below();
  const std::size_t first = tree.is_root() ? tree.number_of(of.member) : of.member - tree.mine();
  return held.subspan(first * bytes, of.below * bytes);
}

inline task<> send_branch(context& me, const binomial_tree& tree, binomial_tree::branch of,
                          std::span<const std::byte> held) {
  const std::size_t to = tree.number_of(tree.other_end(of));
  const auto [first, rest] = tree.cut(of);
  co_await me.send(to, blocks_of(tree, first, held));
  if (rest.below != 0) co_await me.send(to, blocks_of(tree, rest, held));
}

inline task<> expect_branch(context& me, const binomial_tree& tree, binomial_tree::branch of,
                            std::span<std::byte> held) {
  const std::size_t from = tree.number_of(tree.other_end(of));
  const auto [first, rest] = tree.cut(of);
  co_await me.expect(from, blocks_of(tree, first, held));
  if (rest.below != 0) co_await me.expect(from, blocks_of(tree, rest, held));
}

}  // namespace muster::algos
