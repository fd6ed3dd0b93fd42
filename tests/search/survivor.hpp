#pragma once

#include <cstddef>
#include <vector>

#include <muster/coro/task.hpp>

#include "tests/search/case.hpp"
#include "tools/conformance/findings.hpp"
#include "transports/sim/simulation.hpp"

/// Ranks of a random case, which may go on with those who are left.
namespace muster::testing {

/// The teams that ranks say they are of.
class survivors {
public:
  explicit survivors(std::size_t ranks) : teams_(ranks) {}

  /// A rank has made its next team of these ranks of the job.
  void note(std::size_t rank, std::vector<std::size_t> members) {
    teams_[rank].push_back(std::move(members));
  }
  /// Each rank of such a team must have made the same one, or none. A rank that is held for dead
  /// may have heard the others agree on a team with it, before they gave that up.
  void check(sim::simulation& all, findings& found) const;

private:
  std::vector<std::vector<std::vector<std::size_t>>> teams_;  // by rank, one after the other
};

/// A rank's part of the case, which finds what it should not see. Its arguments outlive it.
task<> live(const random_case& of, sim::simulation& all, sim::rank& me, survivors& seen,
            findings& found);

}  // namespace muster::testing
