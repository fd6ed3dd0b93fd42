#include "transports/shm/fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster::shm {
namespace {

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

bool asymmetric_fence_works() noexcept {
  const long known = membarrier(MEMBARRIER_CMD_QUERY);
  constexpr long needed =
      MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  return known >= 0 && (known & needed) == needed;
}

void register_for_asymmetric_fence() noexcept {
  membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

void asymmetric_fence() noexcept { membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

}  // namespace muster::shm
