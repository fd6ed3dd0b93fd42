#pragma once

#include <sys/types.h>

#include <cstddef>

namespace muster::shm {

/// Where the system lets only parents look into a process, lets all of this user's look into this.
void let_others_read() noexcept;

/// Copies from another process's memory; false where that is not allowed.
bool read_process(pid_t process, const char* from, char* to, std::size_t bytes) noexcept;

}  // namespace muster::shm
