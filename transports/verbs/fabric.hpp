#pragma once

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

}  // namespace muster::verbs
