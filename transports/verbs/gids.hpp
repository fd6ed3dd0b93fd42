// What the addresses of an RDMA port mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::verbs {

using gid_bytes = std::array<std::uint8_t, 16>;

enum class gid_kind : std::uint8_t { infiniband, roce_v1, roce_v2 };

/// An entry of a port's table of GIDs.
struct gid_entry {
  gid_bytes gid{};
  std::uint32_t index = 0;
  gid_kind kind = gid_kind::infiniband;
};

/// An address of a network interface, as the GID that it makes.
struct interface_network {
  gid_bytes address{};
  std::uint8_t bits = 0;  ///< of the GID that are its network's
};
/// Those of this process's network namespace.
std::vector<interface_network> interface_networks();

bool is_zero(const gid_bytes& gid) noexcept;
/// Whether it holds an IPv4 address.
bool is_ipv4(const gid_bytes& gid) noexcept;
/// Whether it means something on one link of an Ethernet only.
bool is_link_local(const gid_bytes& gid) noexcept;
/// Whether both have the first `bits` bits in common.
bool share_prefix(const gid_bytes& one, const gid_bytes& other, std::size_t bits) noexcept;
/// "10.0.0.1", "fe80::1"
std::string text_of(const gid_bytes& gid);

/// The GID by which most others reach a port: RoCE v2 before v1; there an IPv4 address before an
/// IPv6 one, both before such as no interface here has, those of one link last. The first of
/// InfiniBand's. None: there is none that leads to other machines.
std::optional<gid_entry> best_gid(std::span<const gid_entry> all,
                                  std::span<const interface_network> here);

/// How many bits of a GID are its network's; 128 where no interface says so.
std::uint8_t network_bits(const gid_entry& of, std::span<const interface_network> here) noexcept;

}  // namespace muster::verbs
