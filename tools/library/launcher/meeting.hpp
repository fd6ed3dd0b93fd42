#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "transports/cluster/rendezvous.hpp"
#include "transports/tcp/socket.hpp"

namespace muster {

/// How this process meets the other ranks of a job.
struct meeting {
  cluster::meeting_place place;
  std::size_t rank = 0;
  std::size_t size = 1;
  bool rank_0_serves = true;  ///< not whoever started the job
  /// Where rank 0 serves, when others have been told already.
  std::shared_ptr<tcp::listener> door = {};
  /// Where whoever started the ranks says who shares a machine: the lowest of those of this one.
  std::optional<std::size_t> machine = {};
  bool has_memory = false;  ///< which these have been given to share already
};

}  // namespace muster
