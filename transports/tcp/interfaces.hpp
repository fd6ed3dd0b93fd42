#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transports/tcp/address.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {

/// An address of an interface of this machine that is up.
struct interface_address {
  std::string interface;
  address at;
  std::size_t bits = 0;     ///< of it that are its network's
  std::uint32_t flags = 0;  ///< as the system has them, `IFF_RUNNING` and others
};
std::vector<interface_address> interface_addresses();

/// This machine's addresses that `text` names, in its order: interfaces, networks, addresses,
/// separated by commas, as in `eth0,10.1.0.0/16,fd00::/8`. Each address once.
/// \throws error `errc::invalid_argument` where a part is none of these, `errc::bootstrap` where
/// there is no such address
std::vector<interface_address> addresses_named(std::string_view text);

/// One by which other machines may reach this one. \throws error `errc::bootstrap`
address first_address_beyond_loopback();

/// Ports, both of them included.
struct port_range {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};
/// `20000-20999`, or one. \throws error `errc::invalid_argument`
port_range parse_ports(std::string_view text);

/// `usual`, or where that is this machine's own loopback another one, if there is one: others need
/// it.
address beyond_loopback(const address& usual);
/// Listens there at one of `MUSTER_PORTS`, or at any that is free.
/// \throws error `errc::bootstrap`, `errc::invalid_argument`
listener listen_at_some_port(const address& at, listening_for what);
/// The same where `MUSTER_INTERFACES` says; where it says nothing at `usual`.
listener listen_as_asked(const address& usual);

/// The same by all of this machine's addresses where `MUSTER_INTERFACES` says nothing.
listener listen_everywhere();
/// What `MUSTER_TIMEOUT` says; 0: never. \throws error `errc::invalid_argument`
std::chrono::milliseconds timeout_asked_for();

/// At all of this machine's addresses, of both kinds. \throws error `errc::bootstrap`
listener listen_everywhere_at(std::uint16_t port);
/// By which other machines may reach `one`: not this machine's own loopback, unless it has nothing
/// else, nor what means something on one link only.
std::vector<address> addresses_for(const listener& one);

}  // namespace muster::tcp
