// `muster sim`: collectives on machines that are not there.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/command/bench/measured.hpp"
#include "tools/command/shared/arrivals.hpp"

namespace CLI {
class App;
}

namespace muster::simulator {

inline constexpr std::size_t most_ranks = 65536;

struct options {
  std::string machine;  ///< see find_model; `list`: only list them
  std::vector<collective> collectives{bench::usual_collectives.begin(),
                                      bench::usual_collectives.end()};
  std::optional<std::size_t> nodes;         ///< nothing: the machine's
  std::optional<std::size_t> ranks_a_node;  ///< likewise
  std::vector<std::string> algorithms{"auto"};
  std::filesystem::path catalog_file;  ///< adds to those that there are; empty: none
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144, 1048576};  ///< bytes
  std::optional<std::size_t> calls;  ///< nothing: 5, or 1 for a trace
  std::uint64_t seed = 1;
  std::optional<arrivals::pattern> late;                 ///< nothing: all come together
  std::optional<std::chrono::nanoseconds> message_time;  ///< of `late`; nothing: the machine's
  bool payload = true;
  bool validate = false;            ///< instead, hold the simulator against this machine
  std::filesystem::path reproduce;  ///< instead, the papers' claims, and where their page goes
  std::string only;                 ///< of the papers' experiments
  bool quiet = false;
  std::filesystem::path json;  ///< empty: none
  std::filesystem::path plot;
  std::filesystem::path trace;
};

/// Simulates, prints the tables, writes the files. Gives the exit status: 0 when all that suits ran
/// with right results, 1 when something was wrong or failed, 2 after a deadlock.
int run_sim(const options& wanted);

/// Adds `sim` to the command. `done` is called with the exit status once it has run.
void add_sim_command(CLI::App& command, std::function<void(int)> done);

}  // namespace muster::simulator
