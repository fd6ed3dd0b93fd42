#pragma once

#include "tools/command/bench/measurement.hpp"
#include "transports/sim/model.hpp"

namespace muster::validate {

/// What `muster bench` would report for a point on a machine, in microseconds: calls back to back
/// on buffers used in turn, the slowest rank's mean.
/// \param preparing_ns what the benchmark itself does for each call
double predict_us(const sim::model& machine, const bench::point& at, double preparing_ns);

/// What the benchmark spends on each call's buffers, measured, in nanoseconds.
double preparing_ns(const bench::point& at);

}  // namespace muster::validate
