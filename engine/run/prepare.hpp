#pragma once

#include <muster/call/arguments.hpp>
#include <muster/run/team.hpp>
#include <muster/select/prepared_call.hpp>

namespace muster {

/// Checks a call and chooses its algorithm, unless `by_hand` does.
/// \throws error `errc::invalid_argument`
prepared_call prepare(const team& on, const arguments& call, const choice& by_hand = {});

}  // namespace muster
