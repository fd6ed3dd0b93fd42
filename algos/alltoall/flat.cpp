// Short alltoall in the node's memory.
//
//  1  every rank copies its whole send buffer beside its arrival
//  2  every rank copies its block out of the others' in the order of their arrival
//
// One copy in of N blocks and N blocks out a rank.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), one slot for all blocks.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const std::size_t all = call.bytes() * me.size();
  me.publish({call.sent_to(0).data(), all});
  co_await me.copy(call.received_from(me.rank()), call.sent_to(me.rank()));
  auto here = me.here();
  while (const auto from = co_await here.next()) {
    const auto theirs = me.published(*from, all);
    co_await me.copy(call.received_from(*from),
                     theirs.subspan(me.rank() * call.bytes(), call.bytes()));
  }
}

bool at_once(context& me, const arguments& call) {
  const std::size_t all = call.bytes() * me.size();
  me.publish({call.sent_to(0).data(), all});
  if (!me.are_all_here()) return false;
  for (std::size_t from = 0; from < me.size(); ++from) {
    const auto theirs = me.published(from, all);
    me.copy(call.received_from(from), theirs.subspan(me.rank() * call.bytes(), call.bytes()));
  }
  return true;
}

}  // namespace

const algorithm alltoall_flat = {
    .id = "flat",
    .what = collective::alltoall,
    .summary = "every rank picks its blocks from everybody's slot in shared memory",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_short,
    .stages = exchanged_stages,
    .run = run,
    .at_once = at_once,
};

}  // namespace muster::algos
