#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// Copies `block` of one writer's contribution on track `on` into `result`, item by item, or from a
/// lender at once; then no more is needed of the track.
task<> receive_items(track& on, std::size_t writer, std::size_t block, std::span<std::byte> result);

}  // namespace muster::algos
