#pragma once

#include <memory>

#include <muster/coro/task.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// The team of those ranks of `of` that are alive, in the order of `of`: of all, where nobody died
/// or left. It is for going on after a failure: `of` may be broken, and operations on it may still
/// be ending; it may be whole, too.
///
/// Every rank of `of` that is alive calls it, once for each time that others do. It takes no place
/// among the operations of `of`, and stays pending until all of them have called it. The new team
/// has an order of its own and the algorithms chosen for `of`; it is not broken by what broke `of`,
/// nor by failures of the job that there were before. What the failed operations left in their
/// buffers is undefined. `of` may be destroyed once this has completed.
///
/// Completes on the thread that drives the team's engine. In at least two rounds all hear from all,
/// p - 1 short messages a rank and round: so many that no rank counts as alive for some and as dead
/// for others. Then each tells the others what came of it. A rank that dies meanwhile may be of the
/// new team, whose first operation then says so.
///
/// \throws error
///   - `errc::rank_died`: this rank heard that others hold it for dead. Where they are out of its
///     reach it does not hear that, and waits, or is left with those that it reaches;
///   - `errc::resource`: there is no memory for another team, on every rank;
///   - `errc::stopped`, `errc::deadline_exceeded`: see `with_stop`, `with_timeout`;
///   - `errc::invalid_argument`: another call for `of` is under way, or was ended so.
task<std::unique_ptr<team>> shrink(team& of);

}  // namespace muster
