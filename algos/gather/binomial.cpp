// Gather over a binomial tree of all ranks, with any number of ports.
//
//  1  every rank receives from its children, whoever comes first, the blocks of all ranks below
//     each; the root receives them where they belong
//  2  it sends what it holds, its own block first, to its parent
//
// ⌈log_{k+1} N⌉ steps, in each of which a rank receives from up to k; the root receives every block
// but its own once. Where ranks go round from N-1 to 0 a message to the root is two, so that each
// lies in one place there.
//
// Source: Qian 2010 (3.4.2), the spanning binomial tree of k ports.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/trees/subtree_blocks.hpp"

namespace muster::algos {
namespace {

task<> receive_from_children(context& me, const binomial_tree& tree, std::span<std::byte> held) {
  pooled_list<task<>> all;
  for (const auto& child : tree.children()) all.push_back(expect_branch(me, tree, child, held));
  co_await when_all(std::move(all));
}

task<> run(context& me, const arguments& call) {
  const binomial_tree tree(me, call.root, ports_of(me));
  const std::size_t bytes = tree.below() * call.bytes();
  const auto own = call.own_block(me.rank());
  me.arrive();
  if (tree.is_root()) {
    const std::span held(call.received_from(0).data(), bytes);
    co_await me.copy(call.received_from(me.rank()), own);
    co_await receive_from_children(me, tree, held);
  } else if (tree.below() == 1) {
    co_await send_branch(me, tree, tree.own(), own);
  } else {
    const auto held = me.scratch(bytes);
    co_await me.copy(held.first(own.size()), own);
    co_await receive_from_children(me, tree, held);
    co_await send_branch(me, tree, tree.own(), held);
  }
}

}  // namespace

const algorithm gather_binomial = {
    .id = "binomial",
    .what = collective::gather,
    .summary = "growing stretches of blocks up a tree of k+1 parts a level",
    .source = "Qian 3.4.2",
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
