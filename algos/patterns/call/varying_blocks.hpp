#pragma once

#include <span>

#include <muster/run/varying_pipeline.hpp>

/// Blocks of any lengths in one node's memory.
namespace muster::algos {

using source = std::span<const std::byte>;
using target = std::span<std::byte>;

/// Segments that the longest of the blocks needs.
std::size_t most_segments(const varying_pipeline& on, std::span<const source> blocks);

/// Stages a segment of this rank's blocks, when there is room.
task<> stage_segment(context& me, varying_pipeline& on, std::span<const source> blocks,
                     std::size_t segment);

/// Every rank gives blocks and takes one of each local peer: `takes[i]`, which is local peer i's
/// block number `which`. This rank's own is left to the caller. Returns when `gives` may change.
///
/// Ranks go through the segments in step, each first staging, then taking; one that has
/// enough says so for good. It cannot come to a standstill: at the least segment that any rank is
/// at, whoever stages finds what it overwrites taken by all, and then whoever takes finds
/// everything staged.
task<> exchange_blocks(context& me, varying_pipeline& on, std::span<const source> gives,
                       std::span<const target> takes, std::size_t which);

}  // namespace muster::algos
