#pragma once

#include <muster/run/context.hpp>

/// The node's part of hierarchical reductions.
namespace muster::algos {

/// For one segment, the leader's part: waits for its local peers' contributions on pipeline `in`
/// and combines them with its own into `to`: see `combine_arrivals`.
task<> combine_node(context& me, pipeline& in, std::span<const std::byte> own, std::size_t segment,
                    std::span<std::byte> to);

/// All of it of the others: lends the contribution to the leader, or stages segment after segment.
task<> contribute_to_leader(context& me, const arguments& call, pipeline& in);
/// For an allreduce, besides: at the same time copies out what the leader stages on pipeline `out`.
task<> contribute_and_collect(context& me, const arguments& call, pipeline& in, pipeline& out);

/// An allreduce whose leaders `lead`, between their nodes' contributions on pipeline `in` and the
/// results on pipeline `out`; all others contribute and collect.
using leaders_part = task<> (*)(context& me, const arguments& call, pipeline& in, pipeline& out);
task<> allreduce_by_leaders(context& me, const arguments& call, leaders_part lead);

/// The leader stages the result of a segment on pipeline `out`.
task<> share_with_node(context& me, pipeline& out, std::span<const std::byte> result,
                       std::size_t segment);

}  // namespace muster::algos
