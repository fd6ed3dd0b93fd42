#pragma once

#include <memory>

#include <muster/coro/task.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// The team of all ranks of the job as it began, in that order: those that are alive, and in the
/// place of each that failed the process that `muster run --respawn` has started again, which comes
/// by `world::rejoin`. It is for going on after a failure with as many ranks as before; `shrink` is
/// for going on with fewer.
///
/// Every rank of the job that is alive calls it, one call at a time, with `of` a team of them,
/// whole or broken: the world's, or what `shrink` or `grow` made. It breaks `of` for nobody, but
/// makes sure that all hear of what broke it. It stays pending until all have come: a rank that is
/// started again may take long, and may fail again meanwhile. The job is founded anew: other
/// memory, other connections. What was chosen for `of` is not chosen for the new team, whose
/// algorithms are those of a world that begins. `of`, and teams made of it, may be destroyed once
/// this has completed; the new team, and those made of it, before the world.
///
/// Completes on the thread that drives the team's engine; the ranks meet on a thread of its own.
///
/// \throws error
///   - `errc::invalid_argument`: ranks of the job are not started again, or this rank has another
///     call under way;
///   - `errc::rank_left`: a rank has ended well, so that it does not come;
///   - `errc::bootstrap`, `errc::resource`: what keeps this rank from becoming one of the job, as
///     when a world begins. It may be called again, and the others wait for that;
///   - `errc::stopped`, `errc::deadline_exceeded`: see `with_stop`, `with_timeout`. This rank has
///     not come then, and may call it again. Once all have come it is no longer ended so.
task<std::unique_ptr<team>> grow(team& of);

}  // namespace muster
