// Short broadcast in the memory of a large node.
//
//  1  the root copies the message beside its arrival and is done
//  2  the speaker of each other group, its leader, copies it out and beside its own arrival
//  3  the other ranks copy it from the speaker of their group; in its group the root speaks
//
// N + G copies for G groups, one more on the longest way than with everybody at the root's; but no
// line has more readers than there are groups, or members in one, where it would have N - 1, served
// one after another. Members read from near.
//
// Source: Tipparaju, Nieplocha, Panda 2003 (2.2), with groups.

#include "algos/algorithms.hpp"
#include "algos/patterns/node/group_leaders.hpp"

namespace muster::algos {
namespace {

// Of longer messages the second copy takes longer than many readers do.
bool pays(const shape& ranks, const machine& measured, const arguments& call) {
  return crowd_of(grouped_bcast_from, ranks, measured) && call.bytes() <= wire::tiny_stage_bytes;
}

task<> run(context& me, const arguments& call) {
  const groups& parts = near_groups(me.shape());
  if (me.rank() == call.root) {
    me.publish(call.result());
    co_return;
  }
  const bool with_root = parts.group_of(me.rank()) == parts.group_of(call.root);
  const bool speaks = !with_root && parts.is_leader(me.rank());
  const std::size_t from = with_root || speaks ? call.root : parts.leader_of(me.rank());
  if (!speaks) me.arrive();
  const auto message = co_await me.read(from, call.bytes());
  co_await me.copy(call.result(), message);
  if (speaks) me.publish(call.result());
}

}  // namespace

const algorithm bcast_grouped = {
    .id = "grouped",
    .what = collective::bcast,
    .summary = "through the root's slot to a leader a group, through theirs to the others",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_short,
    .pays = pays,
    .stages = one_way_stages,
    .run = run,
};

}  // namespace muster::algos
