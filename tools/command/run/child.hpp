#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "transports/shm/job.hpp"

namespace muster::launch {

/// How a process ended.
struct ending {
  int status;  ///< as `waitpid` gave it

  bool well() const noexcept;
  /// For the launcher's own exit: the process's, or 128 + signal.
  int exit_status() const noexcept;
  /// "exited with status 3", "was killed by signal 9 (Killed)"
  std::string text() const;
};

/// Where a child's output goes: inherited, or into the launcher's pipes.
struct output_pipes {
  int out = -1;
  int err = -1;
};

/// Everything a child needs, made before `fork`.
struct child_plan {
  const shm::job* job = nullptr;
  std::size_t rank = 0;
  std::optional<int> processor;  ///< to bind to
  const std::vector<std::string>* command = nullptr;
  output_pipes pipes;
};

/// Starts one rank. Only rank 0 reads the launcher's standard input. The child dies with the
/// launcher. \throws error `errc::resource` where it cannot be started, `errc::invalid_argument`
/// where the program cannot be run.
pid_t start(const child_plan& plan);

}  // namespace muster::launch
