#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// Copies `block` of one writer's contribution on pipeline `on` into `result`, segment by segment,
/// or from a lender at once; then no more is needed of the pipeline.
task<> receive_segments(pipeline& on, std::size_t writer, std::size_t block,
                        std::span<std::byte> result);

}  // namespace muster::algos
