// The ports of this machine's RDMA devices, whether they are of use or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transports/verbs/gids.hpp"
#include "transports/verbs/handles.hpp"

namespace muster::verbs {

/// A port as libibverbs and the system describe it.
struct device_port {
  std::string device;
  std::uint8_t number = 1;
  bool is_active = false;
  bool is_ethernet = false;
  std::string state;        ///< "active", "down", ...
  std::uint32_t speed = 0;  ///< in Mbit/s; 0: not known
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;  ///< as `ibv_mtu` numbers them
  std::vector<gid_entry> gids;
  std::vector<std::uint16_t> pkeys;  ///< all, by index; 0: there is none
  std::string card;                  ///< the same for all ports of one card
  int node = -1;                     ///< of NUMA; -1: not known
  int distance = 0;                  ///< from this process's cores, in Linux's units: 10 is near

  /// "mlx5_0:1"
  std::string name() const { return device + ":" + std::to_string(number); }
};

/// A device that Muster cannot use, and a sentence that says why.
struct useless_device {
  std::string name;
  std::string why;
};

struct machine_ports {
  std::vector<device_port> ports;  ///< by device and number
  std::vector<useless_device> useless;
  std::vector<interface_network> networks;
};

/// Calls libibverbs only where `/sys/class/infiniband` has devices.
machine_ports read_ports();

/// \throws error `errc::resource`
context_handle open_device(const std::string& name);

/// What the system says of a port's speed, such as `100 Gb/sec (4X EDR)`, in Mbit/s; 0: not known.
std::uint32_t parse_rate(const std::string& text);

}  // namespace muster::verbs
