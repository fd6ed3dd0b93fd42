// Short allgather in the memory of a large node.
//
//  1  every rank but the leaders copies its block beside its arrival
//  2  a leader waits for its group and copies its blocks, one after the other, beside its own
//     arrival
//  3  every rank copies whole groups' blocks from the leaders, in the order of their arrival
//
// One more trip of a line, but a rank reads the flags of G leaders instead of N - 1 ranks, and
// makes G copies instead of N.
//
// Source: the node-gather, leader-exchange scheme of Qian 2010 (4.4.2), with groups for nodes.

#include "algos/algorithms.hpp"
#include "algos/patterns/node/group_leaders.hpp"

namespace muster::algos {
namespace {

std::size_t most_assembled(const shape& ranks, const arguments& call) {
  return call.bytes() * rank_groups(ranks).most_members();
}

bool suits(const shape& ranks, const machine&, const arguments& call) {
  return ranks.nodes() == 1 && most_assembled(ranks, call) <= wire::short_stage_bytes;
}

stage_kind stages(const shape& ranks, const machine&, const arguments& call) {
  return most_assembled(ranks, call) <= wire::inline_bytes ? stage_kind::none
                                                           : stage_kind::exchanged;
}

/// Where the blocks of a group, whose ranks follow each other, belong.
std::span<std::byte> blocks_of(const arguments& call, std::span<const std::size_t> members) {
  return {call.received_from(members.front()).data(), members.size() * call.bytes()};
}

task<> assemble(context& me, const arguments& call, std::span<const std::size_t> members) {
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  auto here = me.here(members);
  while (const auto from = co_await here.next()) {
    co_await me.copy(call.received_from(*from), me.published(*from, call.bytes()));
  }
  me.publish(blocks_of(call, members));
}

task<> run(context& me, const arguments& call) {
  const groups& parts = rank_groups(me.shape());
  if (parts.is_leader(me.rank())) {
    co_await assemble(me, call, parts.members_with(me.rank()));
  } else {
    me.publish(call.own_block(me.rank()));
  }
  auto here = me.here(parts.leaders());
  while (const auto leader = co_await here.next()) {
    const auto place = blocks_of(call, parts.members_with(*leader));
    co_await me.copy(place, me.published(*leader, place.size()));
  }
}

}  // namespace

const algorithm allgather_grouped = {
    .id = "grouped",
    .what = collective::allgather,
    .summary = "leaders collect their group's blocks, every rank copies theirs from the leaders",
    .source = "Qian 4.4.2",
    .needs = "one node, up to 8 KiB a group",
    .suits = suits,
    .pays = pays_with_many,
    .stages = stages,
    .run = run,
};

}  // namespace muster::algos
