// `muster tune`: which algorithm is the fastest where, found out by trying.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <muster/select/catalog.hpp>
#include <muster/select/selection.hpp>

#include "tools/command/bench/sampler.hpp"

namespace CLI {
class App;
}

namespace muster::tune {

/// Equal nodes, and what they call.
struct spot {
  collective what = collective::barrier;
  std::size_t nodes = 1;
  std::size_t ranks_a_node = 1;
  std::size_t bytes = 0;
};

/// What was found at a spot.
struct winner {
  spot at;
  std::string algorithm;  ///< as in `team::find`; empty where nothing ran
  double us = 0;
  std::string second;  ///< the next best
  double second_us = 0;
  double automatic_us = 0;  ///< with what is selected without a table; 0: not known
  double mpi_us = 0;        ///< left to the MPI, see `mpi::left_to_mpi`; 0: not tried
};

/// Microseconds that a call takes with each of these algorithms, of which one may be
/// `bench::automatic`; nothing where one does not suit.
using times = std::vector<std::optional<double>>;
using stopwatch = std::function<times(const spot&, std::span<const std::string> algorithms)>;

/// What is tried: `bench::automatic`, and of each row for the collective its id, also with some
/// options where it has them.
std::vector<std::string> candidates(catalog rows, collective what, std::size_t ranks_a_node);

winner fastest(const spot& at, catalog rows, const stopwatch& time);
/// Whether calls there are to be left to the MPI.
bool is_left(const winner& at);

/// Rules from winners: sizes, nodes and ranks between two that were tried go with the larger one,
/// those beyond the largest with it, sizes below the smallest with that. An algorithm gives way to
/// another only where that is faster by more than `worth_changing`; so does what is selected
/// without a table.
///
/// Where the MPI is faster by more than `worth_leaving`, a rule before those leaves calls to it
/// that can be.
inline constexpr double worth_changing = 0.03;
inline constexpr double worth_leaving = 0.05;
selection_table make_table(const std::vector<winner>& found);

struct options {
  std::string machine;  ///< a model to simulate, see simulator::find_model; empty: real ranks here
  bool on_hosts = false;       ///< nodes are made hosts, which TCP connects
  std::string link_rate = {};  ///< of theirs; empty: any
  /// The MPI by whose messages hosts talk, and into whose ranks Muster is loaded; nothing: none.
  std::optional<bench::library> shim_under = {};
  bool hosts_are_made = false;  ///< and this process is among them
  std::vector<std::size_t> nodes{1, 2, 4};
  std::vector<std::size_t> ranks_a_node{1, 4};
  std::vector<collective> collectives;
  std::filesystem::path catalog_file;  ///< adds to the algorithms that there are; empty: none
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144};
  std::size_t most_ranks = 512;  ///< larger teams are left out
  std::size_t calls = 3;         ///< simulated at each point
  bench::sampling how{.rounds = 5, .sample_time = std::chrono::milliseconds{10}};  ///< real ones
  bool quiet = false;
  std::filesystem::path table;  ///< to be written; empty: printed
  std::filesystem::path plot;
};

int run(const options& wanted);

/// Adds `tune` to the command. `done` is called with the exit status once it has run.
void add_tune_command(CLI::App& command, std::function<void(int)> done);

}  // namespace muster::tune
