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
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

struct gathering {
  context& me;
  const arguments& call;
  binomial_tree tree;
  std::span<std::byte> blocks;  // of the members below this one; of the root and of leaves, none
};

task<> receive_from(gathering& of, binomial_tree::branch child) {
  const std::size_t bytes = of.call.bytes();
  const std::size_t from = of.tree.number_of(child.member);
  if (!of.tree.is_root()) {
    const std::size_t offset = (child.member - of.tree.mine()) * bytes;
    co_await of.me.expect(from, of.blocks.subspan(offset, child.below * bytes));
    co_return;
  }
  const std::size_t first = of.tree.before_wrap(child.member, child.below);
  co_await of.me.expect(from, {of.call.received_from(from).data(), first * bytes});
  if (first == child.below) co_return;
  co_await of.me.expect(from, {of.call.received_from(0).data(), (child.below - first) * bytes});
}

task<> receive_from_children(gathering& of) {
  pooled_list<task<>> all;
  for (const auto& child : of.tree.children()) all.push_back(receive_from(of, child));
  co_await when_all(std::move(all));
}

task<> send_to_parent(gathering& of, std::span<const std::byte> blocks) {
  const binomial_tree& tree = of.tree;
  const std::size_t count = tree.below();
  // Only the root receives into a buffer in which ranks go round.
  const bool to_root = tree.parent_member() == 0;
  const std::size_t first = to_root ? tree.before_wrap(tree.mine(), count) : count;
  co_await of.me.send(tree.parent(), blocks.first(first * of.call.bytes()));
  if (first == count) co_return;
  co_await of.me.send(tree.parent(), blocks.subspan(first * of.call.bytes()));
}

task<> run(context& me, const arguments& call) {
  gathering of{me, call, binomial_tree(me, call.root, ports_of(me)), {}};
  const auto own = call.own_block(me.rank());
  me.arrive();
  if (of.tree.is_root()) {
    co_await me.copy(call.received_from(me.rank()), own);
    co_await receive_from_children(of);
  } else if (of.tree.below() == 1) {
    co_await send_to_parent(of, own);
  } else {
    of.blocks = me.scratch(of.tree.below() * call.bytes());
    co_await me.copy(of.blocks.first(own.size()), own);
    co_await receive_from_children(of);
    co_await send_to_parent(of, of.blocks);
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
