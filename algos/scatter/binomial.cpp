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
#include "algos/patterns/trees/subtree_blocks.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const binomial_tree tree(me, call.root, ports_of(me));
  const std::size_t bytes = tree.below() * call.bytes();
  std::span<const std::byte> held;
  me.arrive();
  if (tree.is_root()) {
    held = {call.sent_to(0).data(), bytes};
  } else {
    const auto room = tree.below() == 1 ? call.result() : me.scratch(bytes);
    co_await expect_branch(me, tree, tree.own(), room);
    held = room;
  }
  for (std::size_t distance = tree.first_distance(); distance != 0;
       distance = tree.next_distance(distance)) {
    pooled_list<task<>> level;
    for (const auto& child : tree.children(distance)) {
      level.push_back(send_branch(me, tree, child, held));
    }
    co_await when_all(std::move(level));
  }
  if (!tree.is_root()) {
    co_await me.copy(call.result(), held.first(call.bytes()));
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
