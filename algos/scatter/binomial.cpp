// Scatter over a binomial tree of all ranks, with any number of ports.
//
//  1  every rank but the root receives the blocks of all ranks below it from its parent
//  2  level by level, those with most below them first, it passes on to its k children of the level
//     at once the blocks of all ranks below each
//  3  it keeps its own
//
// ⌈log_{k+1} N⌉ steps; the root sends every block but its own once, others travel further in parts
// of one (k+1)-th. Where ranks go round from N-1 to 0 a message is two, so that the root sends from
// where blocks lie.
//
// Source: Qian 2010 (3.4.1), the spanning binomial tree of k ports.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

struct scattering {
  context& me;
  const arguments& call;
  binomial_tree tree;
  std::span<std::byte> blocks;  // of the members below this one; of the root, none
};

task<> send_down(scattering& of, binomial_tree::branch child) {
  const std::size_t bytes = of.call.bytes();
  const std::size_t to = of.tree.number_of(child.member);
  if (!of.tree.is_root()) {
    const std::size_t offset = (child.member - of.tree.mine()) * bytes;
    co_await of.me.send(to, of.blocks.subspan(offset, child.below * bytes));
    co_return;
  }
  const std::size_t first = of.tree.before_wrap(child.member, child.below);
  co_await of.me.send(to, {of.call.sent_to(to).data(), first * bytes});
  if (first == child.below) co_return;
  co_await of.me.send(to, {of.call.sent_to(0).data(), (child.below - first) * bytes});
}

task<> receive_from_parent(scattering& of) {
  const binomial_tree& tree = of.tree;
  const std::size_t count = tree.below();
  // Only the root sends from a buffer in which ranks go round.
  const bool from_root = tree.parent_member() == 0;
  const std::size_t first = from_root ? tree.before_wrap(tree.mine(), count) : count;
  co_await of.me.expect(tree.parent(), of.blocks.first(first * of.call.bytes()));
  if (first == count) co_return;
  co_await of.me.expect(tree.parent(), of.blocks.subspan(first * of.call.bytes()));
}

task<> run(context& me, const arguments& call) {
  scattering of{me, call, binomial_tree(me, call.root, ports_of(me)), {}};
  me.arrive();
  if (!of.tree.is_root()) {
    const std::size_t count = of.tree.below();
    of.blocks = count == 1 ? call.result() : me.scratch(count * call.bytes());
    co_await receive_from_parent(of);
  }
  for (std::size_t distance = of.tree.first_distance(); distance != 0;
       distance = of.tree.next_distance(distance)) {
    pooled_list<task<>> level;
    for (const auto& child : of.tree.children(distance)) level.push_back(send_down(of, child));
    co_await when_all(std::move(level));
  }
  if (!of.tree.is_root()) {
    co_await me.copy(call.result(), of.blocks.first(call.bytes()));
  } else if (!call.in_place()) {
    co_await me.copy(call.result(), call.sent_to(me.rank()));
  }
}

}  // namespace

const algorithm scatter_binomial = {
    .id = "binomial",
    .what = collective::scatter,
    .summary = "parts of the blocks down a tree of k+1 parts a level",
    .source = "Qian 3.4.1",
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
