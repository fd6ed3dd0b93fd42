#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// What `muster run` says in `MUSTER_JOB` of a job on several machines; nothing where it says
/// something else, or nothing. Leaves there what it says of the job's part on this machine.
/// \throws error `errc::bootstrap`
std::optional<meeting> meet_by_muster_run();

/// For `MUSTER_JOB`.
/// \param key_at the descriptor of a file of the key's bytes
/// \param here   what `shm::job` says of the job's part on this machine
std::string text_for_launched(const meeting& one, int key_at, const std::string& here);

/// Where the ranks of a job meet again once some of them have been started again.
struct reunion {
  /// Whoever serves does so already.
  static constexpr std::chrono::seconds patience{5};

  meeting at;
  bool started_again = false;  ///< this process, in the place of one that failed
};

/// What `muster run --respawn` says in `MUSTER_RESPAWN`; nothing where that is not set. Once in a
/// process: it takes the key.
/// \throws error `errc::bootstrap`
std::optional<reunion> find_reunion();

/// Whether what it says is of a process that was started again.
bool is_started_again(std::string_view text) noexcept;
/// For `MUSTER_RESPAWN`.
std::string text_for_reunion(const reunion& one, int key_at);

}  // namespace muster::launcher
