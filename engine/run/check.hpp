#pragma once

#include <muster/call/arguments.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// Throws `errc::invalid_argument`, naming call, argument and what was expected, unless a rank may
/// make this call.
void check(const team& on, const arguments& call);

}  // namespace muster
