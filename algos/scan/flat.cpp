// Short scan and exclusive scan in the node's memory.
//
//  1  every rank copies its contribution beside its arrival
//  2  every rank waits for those below it and combines theirs in rank order; for a scan with its
//     own
//
// Nobody waits for a rank above, the lowest for nobody. Each rank does its whole sum, N/2 inputs on
// average, so that no result has to be waited for.
//
// Source: the reduce of Tipparaju, Nieplocha, Panda 2003 (2.2) with every rank the root of those
// below.

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.publish(call.contribution());
  pooled<const std::byte*> inputs(me.size());
  std::size_t count = 0;
  while (count < me.rank()) {
    inputs[count] = (co_await me.read(count, call.bytes())).data();
    ++count;
  }
  if (call.what == collective::scan) inputs[count++] = call.contribution().data();
  if (count != 0) co_await me.combine(call.receive, {inputs.data(), count}, call.count);
}

bool at_once(context& me, const arguments& call) {
  me.publish(call.contribution());
  std::size_t count = me.rank();
  for (std::size_t below = 0; below < count; ++below) {
    if (!me.is_here(below)) return false;
  }
  pooled<const std::byte*> inputs(me.size());
  for (std::size_t below = 0; below < count; ++below) {
    inputs[below] = me.published(below, call.bytes()).data();
  }
  if (call.what == collective::scan) inputs[count++] = call.contribution().data();
  if (count != 0) me.combine(call.receive, {inputs.data(), count}, call.count);
  return true;
}

constexpr algorithm row_of(collective what) {
  return {
      .id = "flat",
      .what = what,
      .summary = "every rank combines what those below it left in shared memory",
      .source = "SRM 2.2",
      .needs = "one node, up to 8 KiB a rank",
      .suits = one_node_short,
      .stages = one_way_stages,
      .run = run,
      .at_once = at_once,
  };
}

}  // namespace

const algorithm scan_flat = row_of(collective::scan);
const algorithm exscan_flat = row_of(collective::exscan);

}  // namespace muster::algos
