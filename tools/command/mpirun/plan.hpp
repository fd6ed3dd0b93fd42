// What `muster mpirun` comes to: a launcher's command line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/mpirun/launchers.hpp"

namespace muster::mpirun {

/// What the plan depends on besides its words.
struct environment_facts {
  std::filesystem::path command;  ///< the `muster` command, beside which the libraries are
  std::size_t cores = 1;          ///< that ranks may use

  static environment_facts read();
};

/// The library's file for an MPI, or another that comes with it, absolute.
/// \throws std::runtime_error naming the folders that were tried
std::filesystem::path find_beside(const std::filesystem::path& command, std::string_view file);

/// The launcher's whole command line.
/// \param said as written behind `muster mpirun`, without options of its own
/// \param by_hand the MPI, where the user says it
/// \throws std::runtime_error that says what is wrong
words plan(std::span<const std::string> said, std::optional<mpi> by_hand,
           const environment_facts& in);

}  // namespace muster::mpirun
