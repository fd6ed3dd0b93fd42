#include "tools/library/launcher/torchrun.hpp"

#include <cstdint>
#include <cstdlib>

#include "tools/library/launcher/key_file.hpp"
#include "tools/library/launcher/words.hpp"

namespace muster::launcher {

std::optional<meeting> meet_by_torchrun() {
  const char* const rank = std::getenv("RANK");
  const char* const size = std::getenv("WORLD_SIZE");
  const char* const host = std::getenv("MASTER_ADDR");
  const char* const port = std::getenv("MASTER_PORT");
  if (rank == nullptr || size == nullptr || host == nullptr || port == nullptr) {
    return std::nullopt;
  }
  meeting one;
  one.place.hosts = {host};
  one.place.port =
      static_cast<std::uint16_t>(parse_number(port, "MASTER_PORT", UINT16_MAX - 1) + 1);
  one.rank = parse_number(rank, "RANK");
  one.size = parse_number(size, "WORLD_SIZE");
  check(one);
  if (one.size == 1) return one;
  one.place.key = key_from_file("torchrun");
  return one;
}

}  // namespace muster::launcher
