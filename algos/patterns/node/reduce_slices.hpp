#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// Puts this rank's contribution to `segment` where its readers (all local peers, or one) can read
/// it, unless it was lent.
task<> contribute(context& me, pipeline& in, std::span<const std::byte> contribution,
                  std::size_t segment, std::size_t readers = pipeline::all);

/// The same but for the slice that this rank itself combines, which nobody else reads.
task<> contribute_slices(context& me, pipeline& in, std::span<const std::byte> contribution,
                         std::size_t segment);

/// The first half of a long reduce or allreduce in one node's memory, for one segment: waits for
/// every local peer's contribution on pipeline `in` and combines this rank's slice of them and of
/// its own (see `combine_arrivals`) into its room on pipeline `out`, at the slice's own offset in
/// the segment. Posts it there. `readers` are those who will read it: all local peers, or one.
task<> reduce_slice(context& me, pipeline& in, pipeline& out,
                    std::span<const std::byte> contribution, std::size_t segment,
                    std::size_t readers);

/// Copies all slices of `segment`, as they become ready on pipeline `out`, to their places in
/// `result`.
task<> collect_slices(context& me, pipeline& out, std::size_t segment, std::span<std::byte> result);

}  // namespace muster::algos
