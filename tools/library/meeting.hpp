#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "transports/cluster/rendezvous.hpp"

namespace muster {

/// How this process meets the other ranks of a job on several machines.
struct meeting {
  cluster::meeting_place place;
  std::size_t rank = 0;
  std::size_t size = 1;
  bool rank_0_serves = true;  ///< not whoever started the job
  /// Of ranks that whoever started them has given memory to share: the lowest of them.
  std::optional<std::size_t> machine = {};
};

/// What `muster run` says in `MUSTER_JOB` of a job on several machines; nothing where it says
/// something else, or nothing. Leaves there what it says of the job's part on this machine.
/// \throws error `errc::bootstrap`
std::optional<meeting> meeting_of_launcher();

/// What the environment says: `MUSTER_RENDEZVOUS`, `MUSTER_RANK`, `MUSTER_SIZE`, or torchrun's
/// variables, and `MUSTER_KEY_FILE`. Nothing where it names no place. Takes the rank out of the
/// environment likewise.
/// \throws error `errc::bootstrap`, where something is missing or wrong
std::optional<meeting> meeting_in_environment();

/// For `MUSTER_JOB`.
/// \param key_at the descriptor of a file of the key's bytes
/// \param here   what `shm::job` says of the job's part on this machine
std::string text_for_launched(const meeting& one, int key_at, const std::string& here);

}  // namespace muster
