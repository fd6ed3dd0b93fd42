// Alltoall by exchange among k+1 ranks at a time, with k ports.
//
//  1  where N is no power of k+1, ranks that follow each other make groups, as many as the highest
//     power below N; every rank gives all its blocks to the first one of its group, which speaks
//     for it
//  2  for each weight 1, k+1, (k+1)^2 … of a digit of group numbers, to base k+1: speakers whose
//     numbers differ in that digit only exchange what has a way to go there, k at once
//  3  where N is no power, speakers give the others of their groups what came for them
//
// log N rounds, to base k+1, where N is a power, of k messages of N/(k+1) blocks a rank. Otherwise
// ⌊log N⌋, of messages N/M times as long, M the power, and two steps in which a rank that does not
// speak sends, and receives, one message of N blocks. Blocks need no shift.
//
// Source: Qian 2010 (3.4.4); its correction steps are those of Thakur, Rabenseifner, Gropp 2005 for
// recursive doubling.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/exchange_alltoall.hpp"
#include "algos/patterns/exchange/exchange_bundles.hpp"
#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t ranks = of.nodes * of.ranks_a_node;
  const exchange_bundles bundles(ranks, ports_of(call));
  const exchange_groups& groups = bundles.groups();
  message_tally messages(of);
  for (std::size_t group = 0; group < groups.count(); ++group) {
    const std::size_t speaker = groups.first(group);
    for (std::size_t rank = speaker + 1; rank < groups.first(group + 1); ++rank) {
      messages.send(rank, speaker, ranks * call.bytes());
      messages.send(speaker, rank, ranks * call.bytes());
    }
    for (std::size_t weight = 1; weight < groups.count(); weight *= groups.base()) {
      for (const std::size_t partner : groups.partners(group, weight)) {
        const std::size_t blocks = bundles.blocks_to(partner, group, weight);
        messages.send(speaker, groups.first(partner), blocks * call.bytes());
      }
    }
  }
  return messages.most();
}

}  // namespace

const algorithm alltoall_standard_exchange = {
    .id = "standard_exchange",
    .what = collective::alltoall,
    .summary = "all that has a way there among k+1 ranks, one digit of their numbers after another",
    .source = "Qian 3.4.4",
    .formula =
        "np a power of k+1: k log_{k+1}(np) messages of npm/(k+1) bytes a rank, less those inside "
        "nodes",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = exchange_alltoall,
};

}  // namespace muster::algos
