#pragma once

#include "tests/soak/job.hpp"

namespace muster::testing {

/// The life of a process that `muster run` started as a rank of the job.
/// \returns its exit status; what was wrong is on standard error.
int be_rank_of(const soak_job& job);

}  // namespace muster::testing
