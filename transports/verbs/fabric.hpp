#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::verbs {

/// By what ranks of different machines are to reach each other.
enum class fabric : std::uint8_t {
  automatic,  ///< by RDMA where they can, else by TCP
  tcp,
  verbs,  ///< by RDMA; where they cannot, the job fails
};

/// What `MUSTER_FABRIC` says. \throws error `errc::invalid_argument`
fabric fabric_asked_for();

/// What `MUSTER_QUEUE_PAIRS` says; 0: nothing. \throws error `errc::invalid_argument`
std::size_t queue_pairs_asked_for();

}  // namespace muster::verbs
