#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tests/soak/job.hpp"

namespace muster::testing {

/// A rank's part in a team of a round.
struct soaked_team {
  std::unique_ptr<team> made;  ///< null where this rank is in none
  std::vector<spec> calls;
  conduct how;
};

/// Makes a round's teams from a job's own, one after the other.
task<std::vector<soaked_team>> make_teams(team& own, std::span<const soak_team> wanted);

}  // namespace muster::testing
