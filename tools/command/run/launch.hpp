#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "tools/library/launcher/muster_run.hpp"

namespace muster::launch {

/// A machine, and how many ranks it may have.
struct host {
  std::string name;
  std::size_t slots = 1;
};
/// "a:8,b:8". \throws error `errc::invalid_argument`
std::vector<host> parse_hosts(std::string_view text);

/// What `muster run` starts.
struct options {
  std::size_t ranks = 1;
  std::size_t nodes = 1;               ///< made-up nodes that the ranks are spread over
  bool bind_to_core = true;            ///< rank r to core r, round robin
  bool tag_output = false;             ///< prefix each line of output with its rank
  std::size_t kernel_copies_from = 0;  ///< bytes of a block; 0: as measured
  /// How long ranks have to end by themselves after one failed, and after they were asked to.
  std::chrono::seconds grace = std::chrono::seconds(2);
  /// How often a rank that fails is started again; then it does not fail the job.
  std::size_t respawn = 0;
  std::string record_arrivals;         ///< the folder for the ranks' records; empty: none
  std::vector<host> hosts;             ///< machines that the ranks are spread over; empty: this one
  std::string link_rate = {};          ///< of theirs; empty: any
  std::size_t hosts_made = 0;          ///< so many, of this machine, instead; 0: none
  std::string remote_shell = "ssh";    ///< words; called as `remote_shell HOST COMMAND…`
  std::vector<std::string> passed_on;  ///< variables of our environment that ranks have elsewhere
  std::vector<std::string> command;    ///< program and arguments
};

/// Starts the ranks, waits for all, and returns the exit status for the launcher: 0, or that of the
/// rank that failed first (128 + signal where one was killed).
///
/// When a rank fails, the others learn of it at once, have `grace` to end by themselves, and are
/// then ended; but where it is started again, they go on. Signals sent to the launcher go on to the
/// ranks. Nothing outlives it.
/// \throws error where the job cannot be made.
int run(const options& what);

/// What a launcher on one machine starts of a job on several.
struct share {
  std::size_t first = 0;           ///< of its ranks, which follow each other
  std::size_t ranks = 1;           ///< how many it starts
  std::optional<meeting> at = {};  ///< where they meet the others; nothing: there are none
  descriptor key = {};             ///< a file with the key, then
  descriptor input = {};           ///< rank 0's, where that is among them; nothing: ours
  descriptor control = {};         ///< of the launcher that started this one: its end is ours
};
/// Starts some of a job's ranks, as `run` does.
int run_share(const options& what, share some);

}  // namespace muster::launch
