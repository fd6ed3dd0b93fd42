// Short allgather in the node's memory.
//
//  1  every rank copies its block beside its arrival
//  2  every rank copies the others' blocks out in the order of their arrival
//
// One copy in and N copies out a rank.
//
// Source: the shared buffers of Tipparaju, Nieplocha, Panda 2003 (2.2), with every rank a root.

#include "algos/algorithms.hpp"
#include "algos/patterns/suitability.hpp"
#include "engine/collective/context.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.publish(call.own_block(me.rank()));
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  auto here = me.here();
  while (const auto from = co_await here.next()) {
    co_await me.copy(call.received_from(*from), me.published(*from, call.bytes()));
  }
}

}  // namespace

const algorithm allgather_flat = {
    .id = "flat",
    .what = collective::allgather,
    .summary = "every rank copies everybody's block from shared memory",
    .source = "SRM 2.2",
    .suits = one_node_short,
    .stages = exchanged_stages,
    .run = run,
};

}  // namespace muster::algos
