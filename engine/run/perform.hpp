#pragma once

#include <string_view>

#include <muster/call/arguments.hpp>
#include <muster/coro/task.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// Runs any collective from its plain arguments; the typed forms end here.
///
/// Checks the call and chooses its algorithm; what is wrong with an argument is thrown here. The
/// operation begins when awaited or started: then, in the order of these beginnings, it takes its
/// place among the team's operations, which must be the same on all ranks. Completes on the thread
/// that drives the team's engine, when this rank's buffers may be used again and its results are in
/// place; other ranks may still be at work. Buffers belong to the operation until then.
///
/// \throws error
///   - `errc::invalid_argument`, at once: an argument is wrong; the team is whole;
///   - `errc::mismatched_call`: another rank called something else; the text names both;
///   - `errc::rank_died`, `errc::rank_left`: a rank that is needed is gone;
///   - `errc::stopped`, `errc::deadline_exceeded`: see `with_stop`, `with_timeout`.
///
/// All but the first break the team on every rank.
task<> perform(team& on, const arguments& call);

/// The same for a collective whose blocks vary: keeps the layouts, and gives displacements to those
/// that have none. `send` and `receive` without counts are left out.
task<> perform(team& on, const arguments& call, const block_layout& send,
               const block_layout& receive);

/// The same for one with neighbors, whose lists it keeps, too. Completes as soon as this rank has
/// what its sources sent it; it waits for no rank that is not its neighbor. Where a rank is
/// waited for that completes the operation without it on the same node, both are told, as
/// `errc::mismatched_call`; where ranks wait for each other in a circle, nobody is, and a block
/// that nobody expects is found when the next one comes from its sender, if ever.
task<> perform_with(team& on, const arguments& call, const neighborhood& with,
                    const block_layout& send, const block_layout& receive);
/// The same where all blocks sent are `call.count` elements long, and all received `received`.
task<> perform_with(team& on, const arguments& call, const neighborhood& with,
                    std::size_t received);

/// As `perform`, but when it begins it only takes its place in the team's order and runs `before`,
/// and goes on after that: what this rank contributes need not be known until then. Where `before`
/// fails, so does this.
task<> perform_after(team& on, arguments call, task<> before);

/// Gives a collective, which has not begun, its place in the team's order now. It goes on when it
/// is awaited; one that is destroyed instead breaks the team.
/// \param collective what any of Muster's collectives returned
void take_place(const task<>& collective);

/// The id of the algorithm that would run this call, which has its layouts but need have no
/// buffers.
std::string_view chosen_algorithm(const team& on, const arguments& call);

}  // namespace muster
