#pragma once

#include "engine/collective/context.hpp"

namespace muster::algos {

/// The node's part of a hierarchical reduction, for one item: the leader waits for its neighbours'
/// contributions on track `in` and combines them with its own into `to`: see `combine_arrivals`.
task<> combine_node(context& me, track& in, std::span<const std::byte> own, std::size_t item,
                    std::span<std::byte> to);

}  // namespace muster::algos
