// What `muster tune` measures with.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "tools/command/bench/sampler.hpp"
#include "tools/command/tune/tune.hpp"
#include "transports/sim/model.hpp"

namespace muster::tune {

/// The median of so many simulated calls, without payload.
/// \param rows outlive it
stopwatch simulated(const sim::model& machine, catalog rows, std::size_t calls);

/// Real ranks of this machine, as `muster bench` measures them: a process each, those of several
/// nodes on made-up ones, the algorithms by turns; all results are checked.
/// \param wanted how, on which hosts, and with what added to the algorithms that there are
/// \param tell   is given what people should know
stopwatch real_ranks(const options& wanted, std::function<void(const std::string&)> tell);

/// This machine and today, for people.
std::string measured_here();

}  // namespace muster::tune
