#pragma once

#include <sys/types.h>

#include <cstddef>

#include <muster/team/machine.hpp>

namespace muster::shm {

/// Whether ranks will be processes of their own or threads of this one.
enum class ranks_are { processes, threads };

/// Measures this machine with the processors that the calling thread may use. It copies more than
/// the last-level cache holds: with 32 MiB of that, less than 0.2 s in a virtual machine. With
/// `processes` it forks a child, to see whether one may read another's memory; call it before other
/// threads exist.
muster::machine measure(ranks_are kind);

/// What `measure_reading` wants to read.
inline constexpr std::size_t offered_bytes = std::size_t{512} << 10;

/// The same in less than a millisecond and without a fork, for processes that others have started:
/// with copies of the `offered_bytes` at `offered` in another process, which for its part waits
/// (null: nobody may read another's memory). Counts no processors; takes buffers beyond the cache
/// to be like those in it; leaves out what nothing is decided by.
muster::machine measure_reading(pid_t process, const char* offered);

}  // namespace muster::shm
