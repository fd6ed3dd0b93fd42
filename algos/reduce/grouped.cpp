// Short reduce in the memory of a large node.
//
//  1  every rank but the leaders copies its contribution beside its arrival; all but the root are
//     done
//  2  a leader waits for its group, combines what it contributes, and copies that beside its own
//     arrival
//  3  the root waits for the leaders and combines what they have
//
// The root reads G lines instead of N - 1, and combines G blocks. Where combining by groups would
// change the bits (sums of floating-point values), leaders only collect: the root still combines
// N blocks, one after the other in memory.
//
// Source: the tree of Tipparaju, Nieplocha, Panda 2003 (2.2), of two levels.

#include "algos/algorithms.hpp"
#include "algos/patterns/node/group_leaders.hpp"

namespace muster::algos {
namespace {

stage_kind stages(const shape& ranks, const machine&, const arguments& call) {
  return most_partial_bytes(ranks, call) <= wire::inline_bytes ? stage_kind::none
                                                               : stage_kind::one_way;
}

task<> run(context& me, const arguments& call) {
  const groups& parts = rank_groups(me.shape());
  const auto bytes_of = [&](std::size_t leader) {
    return call.bytes() * partial_blocks(call, parts.members_with(leader).size());
  };
  const bool leads = parts.is_leader(me.rank());
  pooled<std::byte> partial(leads ? bytes_of(me.rank()) : 0);
  if (leads) {
    const auto members = parts.members_with(me.rank());
    co_await me.all_here(members);
    const auto input_of = [&](std::size_t m) {
      return m == me.rank() ? call.contribution().data() : me.published(m, call.bytes()).data();
    };
    co_await make_partial(me, input_of, partial.data());
    me.publish(partial);
  } else {
    me.publish(call.contribution());
  }
  if (me.rank() != call.root) co_return;
  co_await me.all_here(parts.leaders());
  co_await combine_partials(me, [&](std::size_t leader) -> const std::byte* {
    return leader == me.rank() ? partial.data() : me.published(leader, bytes_of(leader)).data();
  });
}

}  // namespace

const algorithm reduce_grouped = {
    .id = "grouped",
    .what = collective::reduce,
    .summary = "leaders combine or collect their group's contributions, the root theirs",
    .source = "SRM 2.2",
    .needs = "one node, up to 8 KiB a rank",
    .suits = one_node_partials,
    .pays = reduction_pays_with_many,
    .stages = stages,
    .run = run,
};

}  // namespace muster::algos
