#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/base/fixed_text.hpp>

namespace muster::verbs {

/// A port of an RDMA device by which other machines reach this one, as they are told of it.
struct rail {
  std::array<std::uint8_t, 16> gid{};
  std::uint16_t lid = 0;   ///< 0 on Ethernet
  std::uint16_t pkey = 0;  ///< of the partition, with the bit for full membership
  std::uint8_t is_ethernet = 0;
  std::uint8_t roce = 0;    ///< the version of RoCE: 1 or 2; 0 on InfiniBand
  std::uint8_t mtu = 0;     ///< the active one, as `ibv_mtu` numbers them
  std::uint8_t bits = 0;    ///< of the GID that are its network's; 128: itself, or it is not known
  std::uint32_t speed = 0;  ///< in Mbit/s; 0: not known
  fixed_text<24> name;      ///< "mlx5_0:1", for people

  /// Whether routers pass on what is sent to its GID nowhere.
  bool is_of_one_link() const noexcept;
};

/// What a rank tells others of how to reach it by RDMA. Trivially copyable.
struct reach {
  static constexpr std::size_t most_rails = 8;

  std::array<rail, most_rails> rails{};
  std::uint32_t count = 0;      ///< of rails; 0: it is not reached by RDMA
  std::uint32_t is_chosen = 0;  ///< whether `MUSTER_VERBS_DEVICES` names the rails

  std::span<const rail> all() const noexcept { return std::span(rails).first(count); }
};

/// Whether `one`, which came from another process, can be what a rank says of itself.
bool is_sane(const reach& one) noexcept;

/// A way to one peer: by which of this rank's rails, and which of the peer's it leads to.
struct path {
  std::size_t rail = 0;
  verbs::rail to;
};
/// All ways to it. None: it is not reached by RDMA.
using paths = std::vector<path>;

/// How two ranks reach each other, for one of them: by the rails on which they share a network,
/// each once; of those that were found, and not chosen, by none that is much slower than another.
/// Where both chose theirs and share no network, by those, in the order of the choice: there are
/// routers between them. Both sides number the paths alike.
/// \param is_first whether this is the lower of the two ranks
paths paths_between(const reach& mine, const reach& theirs, bool is_first);

}  // namespace muster::verbs
