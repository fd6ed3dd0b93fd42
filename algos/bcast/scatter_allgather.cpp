// Long broadcast between any ranks, in two halves.
//
//  1  the message is cut into a slice for every rank; they go down a binomial tree, to every child
//     those of all ranks below it
//  2  the slices go round a ring, until all ranks have all
//
// ⌈log_{k+1} N⌉ + N-1 steps, but every rank sends and receives only about twice the message.
//
// Source: van de Geijn's algorithm, Thakur, Rabenseifner, Gropp 2005 (4.3).

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/rings/slice_ring.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

task<> scatter_slices(context& me, const binomial_tree& tree, std::span<std::byte> message) {
  if (!tree.is_root()) {
    co_await me.expect(tree.parent(), slices_from(me, message, tree.mine(), tree.below()));
  }
  for (std::size_t distance = tree.first_distance(); distance != 0;
       distance = tree.next_distance(distance)) {
    pooled_list<task<>> level;
    for (const auto& [child, below] : tree.children(distance)) {
      level.push_back(me.send(tree.number_of(child), slices_from(me, message, child, below)));
    }
    co_await when_all(std::move(level));
  }
}

task<> run(context& me, const arguments& call) {
  const binomial_tree tree(me, call.root, ports_of(me));
  me.arrive();
  co_await scatter_slices(me, tree, call.result());
  co_await allgather_slices(me, call.result(), tree.mine());
}

}  // namespace

const algorithm bcast_scatter_allgather = {
    .id = "scatter_allgather",
    .what = collective::bcast,
    .summary = "a slice for every rank down a tree, then all slices round a ring",
    .source = "Thakur et al. 2005",
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
