#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <muster/muster.hpp>

namespace muster::testing {

struct message_job {
  std::vector<std::size_t> node_of;  ///< of each rank
  std::size_t eager = 4096;          ///< bytes of the longest message that is copied on its way
  std::uint64_t seed = 0;
};

/// Runs `body` as all ranks of a job, each in a thread, of machines that are joined by a
/// `mailroom`.
/// \throws what the first of them threw
void run_by_messages(const message_job& how, const std::function<void(team&)>& body);

}  // namespace muster::testing
