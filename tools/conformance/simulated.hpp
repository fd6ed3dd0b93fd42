#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/conformance/findings.hpp"
#include "tools/conformance/sweep.hpp"
#include "transports/sim/simulation.hpp"

/// The calls of the sweep under virtual time.
namespace muster::testing {

/// A simulation's model and options.
struct simulated {
  sim::model model;
  sim::options options;
};

/// A cluster on which a world's data moves as the world says; what it costs hardly matters.
simulated simulate(const world_case& world);

/// Ranks come late by up to so much of virtual time, now and then.
lateness rests(sim::rank& of, clock_time longest);

/// All ranks make the calls. What went wrong, or nothing.
std::string run_simulated(const simulated& in, std::span<const spec> calls, const conduct& how);
std::string run_simulated(const world_case& world, std::span<const spec> calls, const conduct& how);

/// What a failure says, "" where there is none.
std::string text_of(const std::exception_ptr& failure);

}  // namespace muster::testing
