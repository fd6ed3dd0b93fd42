#pragma once

#include <span>

#include <muster/run/context.hpp>

/// A vector that is cut into a slice for every rank, passed round a ring of all ranks.
namespace muster::algos {

/// So many slices from number `first` on, as one stretch of the vector; the last ones may be empty.
std::span<std::byte> slices_from(const context& me, std::span<std::byte> whole, std::size_t first,
                                 std::size_t count);
/// One slice; numbers go round.
inline std::span<std::byte> slice_at(const context& me, std::span<std::byte> whole,
                                     std::size_t number) {
  return slices_from(me, whole, number % me.size(), 1);
}

/// Every rank has slice `held` of the vector, the next rank the next one; then all have all. N-1
/// steps: each rank passes on to the next what came in the step before.
task<> allgather_slices(context& me, std::span<std::byte> whole, std::size_t held);

/// Combines all ranks' `own` vectors, each slice in the order in which it passes the ranks; this
/// rank then has slice `rank + 1` of the result in `whole`, which may be its own vector. The other
/// slices there are working memory. N-1 steps.
task<> reduce_scatter_slices(context& me, std::span<const std::byte> own,
                             std::span<std::byte> whole);

}  // namespace muster::algos
