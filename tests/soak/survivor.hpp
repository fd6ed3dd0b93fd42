#pragma once

#include <string>

#include "tests/soak/fault.hpp"

namespace muster::testing {

/// Is a rank of a job in which things happen, to this one or to others. Where others are lost, it
/// goes on with those that are left.
/// \param scores the path of the job's scoreboard
/// \param group  the path of a control group that has no memory, or nothing
/// \returns this process's exit status
int be_survivor_of(const faulty_job& job, const std::string& scores, const std::string& group);

}  // namespace muster::testing
