// Broadcast over a binomial tree of all ranks, with any number of ports.
//
//  1  every rank but the root receives the message from its parent
//  2  level by level, those with most ranks below them first, it passes it on to its k children of
//     the level at once
//
// ⌈log_{k+1} N⌉ steps of the whole message, whatever the ranks' nodes.
//
// Source: Thakur, Rabenseifner, Gropp 2005 (4.3), with the ports of Qian 2010 (3.4.1).

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const binomial_tree tree(me, call.root, ports_of(me));
  me.arrive();
  if (!tree.is_root()) co_await me.expect(tree.parent(), call.result());
  for (std::size_t distance = tree.first_distance(); distance != 0;
       distance = tree.next_distance(distance)) {
    pooled_list<task<>> level;
    for (const auto& child : tree.children(distance)) {
      level.push_back(me.send(tree.number_of(child.member), call.result()));
    }
    co_await when_all(std::move(level));
  }
}

}  // namespace

const algorithm bcast_binomial = {
    .id = "binomial",
    .what = collective::bcast,
    .summary = "down a tree of k+1 parts a level over the ranks, whatever their nodes",
    .source = "Thakur et al. 2005",
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
