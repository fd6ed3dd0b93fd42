// `muster bench`: Muster beside the MPIs people have, on this machine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "algos/catalog.hpp"
#include "tools/command/bench/libraries.hpp"
#include "tools/command/bench/measured.hpp"
#include "tools/command/bench/sampler.hpp"
#include "tools/command/shared/arrivals.hpp"

namespace CLI {
class App;
}

namespace muster::bench {

/// What is printed: tables for people, or lines as the OSU micro-benchmarks print them.
enum class output_format { tables, osu };

struct options {
  std::vector<collective> collectives{usual_collectives.begin(), usual_collectives.end()};
  std::vector<std::size_t> ranks{8};
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144, 1048576};  ///< bytes
  std::optional<std::vector<library>> peers;  ///< nothing: usual_peers
  std::size_t nodes = 1;                      ///< made-up ones that Muster's ranks are spread over
  std::size_t hosts = 1;                      ///< made ones that all ranks are spread over
  std::string link_rate = {};                 ///< of theirs; empty: any
  bool hosts_are_made = false;                ///< and this process is among them
  std::optional<library> shim_under;    ///< the MPI that Muster is preloaded into; nothing: none
  std::vector<std::string> algorithms;  ///< Muster's, see parse_algorithms; none: as it chooses
  std::filesystem::path catalog_file;   ///< adds to those that there are; empty: none
  catalog rows = algos::catalog();      ///< those, set by run_bench
  std::filesystem::path json;           ///< empty: none
  std::filesystem::path table;          ///< empty: none
  std::filesystem::path plot{"muster-bench.svg"};
  output_format format = output_format::tables;
  sampling how;
  std::optional<arrivals::pattern> late;                 ///< nothing: calls are back to back
  std::uint64_t seed = 1;                                ///< of `late`
  std::optional<std::chrono::nanoseconds> message_time;  ///< of `late`; nothing: as measured
  std::optional<shm::cpu_pair> probe;                    ///< nothing: chosen by shm::probe_cpus
  bool quiet = false;
};

/// Measures, prints the tables, writes the files. Gives the exit status: 0 when every library
/// measured at every point with right results, 1 when something failed, 130 when interrupted.
int run_bench(const options& wanted);

/// Adds `bench` to the command. `done` is called with the exit status once it has run.
void add_bench_command(CLI::App& command, std::function<void(int)> done);

}  // namespace muster::bench
