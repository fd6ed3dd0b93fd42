#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// The first half of a long reduce or allreduce in one node's memory, for one item: waits for every
/// neighbour's contribution on track `in` and combines this rank's slice of them (see
/// `combine_arrivals`) into its room on track `out`, at the slice's own offset in the item. Posts
/// it there.
/// `readers` are those who will read it: all neighbours, or one.
task<> reduce_slice(context& me, track& in, track& out, std::size_t item, std::size_t readers);

/// Puts this rank's contribution to `item` where its readers (all neighbours, or one) can read it,
/// unless it was lent.
task<> contribute(context& me, track& in, std::span<const std::byte> contribution, std::size_t item,
                  std::size_t readers = track::all);

/// Copies all slices of `item`, as they become ready on track `out`, to their places in `result`.
task<> collect_slices(context& me, track& out, std::size_t item, std::span<std::byte> result);

}  // namespace muster::algos
