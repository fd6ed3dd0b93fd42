#pragma once

#include <muster/run/context.hpp>

/// The node's part of hierarchical reductions.
namespace muster::algos {

/// For one item, the leader's part: waits for its neighbours' contributions on track `in` and
/// combines them with its own into `to`: see `combine_arrivals`.
task<> combine_node(context& me, track& in, std::span<const std::byte> own, std::size_t item,
                    std::span<std::byte> to);

/// All of it of the others: lends the contribution to the leader, or stages item after item.
task<> contribute_to_leader(context& me, const arguments& call, track& in);
/// For an allreduce, besides: at the same time copies out what the leader stages on track `out`.
task<> contribute_and_collect(context& me, const arguments& call, track& in, track& out);

/// The leader stages the result of an item on track `out`.
task<> share_with_node(context& me, track& out, std::span<const std::byte> result,
                       std::size_t item);

}  // namespace muster::algos
