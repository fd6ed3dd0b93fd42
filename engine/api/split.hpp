#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include <muster/coro/task.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// The colour of a rank that is to be in no team.
inline constexpr int no_color = std::numeric_limits<int>::min();

// Teams made from teams. Each of these is a collective of `of`, in whose order it takes its place
// when it begins, as others do; any number may be in flight, with others. It completes with this
// rank's new team, which has an order of its own, the algorithms chosen for `of`, and memory that
// is used again for other teams when the last of its ranks has destroyed it (or at the end of the
// job, where a rank died before it could).
//
// Like other collectives they throw where ranks called different things or a rank is gone, which
// breaks `of`; and also
//   - `errc::invalid_argument`, where an argument is wrong: nothing was sent;
//   - `errc::resource`, on every rank of a team for which there is no memory: `of` stays whole.

/// Ranks of one colour become a team, in the order of their keys, and of their ranks for equal
/// keys. Null where the colour is `no_color`.
task<std::unique_ptr<team>> split(team& of, int color, int key);

/// A team of the same ranks in the same order.
task<std::unique_ptr<team>> duplicate(team& of);

/// The same with less memory, for one operation at a time that is run again and again.
/// \param needs the most it asks of the team's stages, see `algorithm::stages`; perhaps another on
/// each rank: the team has what any of them needs
task<std::unique_ptr<team>> duplicate_for_runs(team& of, stage_kind needs);

/// A team of these ranks, in this order. The list, which is copied, is the same on every rank of
/// `of`. Null on those not in it.
task<std::unique_ptr<team>> subset(team& of, std::span<const std::size_t> ranks);

}  // namespace muster
