// `muster check`: whether algorithms do what they say, wherever they say that they can.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <muster/select/catalog.hpp>

namespace CLI {
class App;
}

namespace muster::check {

struct options {
  std::filesystem::path catalog_file;  ///< whose algorithms are checked; empty: Muster's own
  std::vector<std::string> names;      ///< of those: see rows_named; none: all
  std::optional<std::uint64_t> seed;   ///< nothing: another one in each run
  bool as_rank = false;                ///< this process is a rank of a job that a check started
};

/// The rows that some names are of: each an id, or a collective and an id, as in `allgather:ring`.
/// \throws std::runtime_error that names those there are, for a name of none
std::vector<algorithm> rows_named(const std::vector<std::string>& names, catalog among);

/// Checks, prints what came of it. Gives the exit status: 0 when all was right, 1 when something
/// was wrong or failed.
int run(const options& wanted);

/// Adds `check` to the command. `done` is called with the exit status once it has run.
void add_check_command(CLI::App& command, std::function<void(int)> done);

}  // namespace muster::check
