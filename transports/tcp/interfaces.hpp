#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "transports/tcp/address.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {

/// This machine's addresses that `text` names, in its order: interfaces, networks, addresses,
/// separated by commas, as in `eth0,10.1.0.0/16,fd00::/8`. Each address once.
/// \throws error `errc::invalid_argument` where a part is none of these, `errc::bootstrap` where
/// there is no such address
std::vector<address> addresses_named(std::string_view text);

/// One by which other machines may reach this one. \throws error `errc::bootstrap`
address first_address_beyond_loopback();

/// Ports, both of them included.
struct port_range {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};
/// `20000-20999`, or one. \throws error `errc::invalid_argument`
port_range parse_ports(std::string_view text);

/// Listens where `MUSTER_INTERFACES` and `MUSTER_PORTS` say; where they say nothing at `usual`, at
/// any port that is free. Takes datagrams there, too.
/// \throws error `errc::bootstrap`, `errc::invalid_argument`
listener listen_as_asked(const address& usual);

/// The same, by all of this machine's addresses where `MUSTER_INTERFACES` says nothing.
listener listen_everywhere();
/// What `MUSTER_TIMEOUT` says; 0: never. \throws error `errc::invalid_argument`
std::chrono::milliseconds timeout_asked_for();

/// At all of this machine's addresses, of both kinds. \throws error `errc::bootstrap`
listener listen_everywhere_at(std::uint16_t port);
/// By which other machines may reach `one`: not this machine's own loopback, unless it has nothing
/// else, nor what means something on one link only.
std::vector<address> addresses_for(const listener& one);

}  // namespace muster::tcp
