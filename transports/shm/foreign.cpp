#include "transports/shm/foreign.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>

namespace muster::shm {

void let_others_read() noexcept { ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

bool read_process(pid_t process, const char* from, char* to, std::size_t bytes) noexcept {
  const iovec local{to, bytes};
  const iovec remote{const_cast<char*>(from), bytes};
  return ::process_vm_readv(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace muster::shm
