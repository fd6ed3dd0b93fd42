// Direct gather between any ranks.
//
//  1  the root invites all others, if blocks are long enough to go in place
//  2  every other rank sends its block to the root, which takes whichever comes first
//
// N-1 messages, none passed on; a rank that comes late holds up nobody but the root, which by then
// has done everything else.
//
// Source: Qian 2010 (3.4.2), the direct algorithm, served in the order of arrival as in 6.4.

#include "algos/algorithms.hpp"
#include "algos/patterns/arrival/take_as_they_come.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() == call.root) {
    co_await take_as_they_come(me, call);
  } else {
    co_await me.send(call.root, call.own_block(me.rank()));
  }
}

node_cost costs(const even_nodes& of, const arguments& call) {
  const std::size_t messages = of.nodes == 1 ? 0 : of.ranks_a_node;
  return {.messages = messages, .bytes = messages * call.bytes(), .connections = messages};
}

}  // namespace

const algorithm gather_direct = {
    .id = "direct",
    .what = collective::gather,
    .summary = "every rank sends its block to the root, which takes them as they come",
    .source = "Qian 3.4.2",
    .formula = "all nodes but the root's: p messages of m bytes, as many connections",
    .costs = costs,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
