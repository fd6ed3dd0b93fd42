#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transports/verbs/rails.hpp"

namespace muster::verbs {

/// A rail in the process that has it.
struct port {
  std::string device;
  std::uint8_t number = 1;
  std::uint8_t gid_index = 0;
  std::uint16_t pkey_index = 0;
};

/// This process's rails.
struct found_ports {
  reach told;
  std::vector<port> ports;  ///< one each, in the same order
  std::string why_none;     ///< a sentence, where there are none
};

/// Those that `MUSTER_VERBS_DEVICES` names; or those found: active ones, nearest to this process's
/// cores first, two of one card only behind one of each other card, and none that is much slower
/// than another. Where there is no RDMA device, libibverbs is not called.
/// \throws error `errc::invalid_argument` where one that is named cannot be had
found_ports find_ports();

}  // namespace muster::verbs
