// `muster tune`: which algorithm is the fastest where, found out by trying.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/collective/catalog.hpp"
#include "engine/collective/selection.hpp"

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
};

/// Microseconds that a call takes; nothing where the algorithm does not suit.
using stopwatch = std::function<std::optional<double>(const spot&, const std::string& algorithm)>;

/// What is tried of a row: its id, and with some options where it has them.
std::vector<std::string> candidates(const algorithm& row, std::size_t ranks_a_node);

winner fastest(const spot& at, catalog rows, const stopwatch& time);

/// Rules from winners: sizes, nodes and ranks between two that were tried go with the larger one,
/// those beyond the largest with it. An algorithm gives way to another only where that is faster by
/// more than `worth_changing`.
inline constexpr double worth_changing = 0.03;
selection_table make_table(const std::vector<winner>& found);

struct options {
  std::string machine;  ///< a model to simulate, see simulator::find_model
  std::vector<std::size_t> nodes{1, 2, 4};
  std::vector<std::size_t> ranks_a_node{1, 4};
  std::vector<collective> collectives;
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144};
  std::size_t calls = 3;
  bool quiet = false;
  std::filesystem::path table;  ///< to be written; empty: printed
  std::filesystem::path plot;
};

int run(const options& wanted);

/// Adds `tune` to the command. `done` is called with the exit status once it has run.
void add_tune_command(CLI::App& command, std::function<void(int)> done);

}  // namespace muster::tune
