// Barrier between any ranks, with any number of ports.
//
//  for d = 1, k+1, (k+1)^2, … below N: tell the ranks d, 2d, … kd further on, and hear from those
//  as far back, at once
//
// ⌈log_{k+1} N⌉ steps: after each, a rank has heard, by others, of k+1 times as many.
//
// Source: Hensgen, Finkel, Manber 1988, Two algorithms for barrier synchronization; ports as in
// Qian 2010 (3.4).

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments&) {
  const std::size_t ports = std::min(ports_of(me), me.size());
  me.arrive();
  for (std::size_t step = 1; step < me.size(); step *= ports + 1) {
    pooled_list<task<>> all;
    for (std::size_t port = 1; port <= ports && port * step < me.size(); ++port) {
      const std::size_t distance = port * step;
      all.push_back(me.send((me.rank() + distance) % me.size(), {}));
      all.push_back(me.expect((me.rank() + me.size() - distance) % me.size(), {}));
    }
    co_await when_all(std::move(all));
  }
}

node_cost costs(const even_nodes& of, const arguments& call) {
  if (of.nodes == 1) return {};
  const std::size_t ranks = of.nodes * of.ranks_a_node;
  std::size_t messages = 0;
  for (std::size_t step = 1; step < ranks; step *= ports_of(call) + 1) {
    for (std::size_t port = 1; port <= ports_of(call) && port * step < ranks; ++port) {
      messages += std::min({of.ranks_a_node, port * step, ranks - port * step});
    }
  }
  return {.messages = messages, .connections = messages};
}

}  // namespace

const algorithm barrier_dissemination = {
    .id = "dissemination",
    .what = collective::barrier,
    .summary = "in every step, word of k+1 times as many ranks, whatever their nodes",
    .source = "Hensgen et al. 1988",
    .formula = "min(p, d, N-d) empty messages for each distance d, as many connections",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
