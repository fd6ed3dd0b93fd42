// The MPIs, their launchers, and what these are told.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::mpirun {

enum class mpi : std::uint8_t { openmpi, mpich };

using words = std::vector<std::string>;

/// As on the command line and in the names of files: `openmpi`.
std::string_view name_of(mpi which);
/// For people: `Open MPI`.
std::string_view title_of(mpi which);

/// Words of a launcher's command line, and what a user says instead.
struct setting {
  words told;
  std::vector<std::string_view> instead;  ///< options and MCA parameters, without dashes
};

/// What ranks that share cores need: to be bound, lest the scheduler gather them on one core, and
/// to give their core away while they wait. Part of that is `preloaded_on_shared_cores`.
std::span<const setting> settings_for_shared_cores(mpi which);

/// The library that MPICH's ranks need where they share cores; empty: none.
std::string_view preloaded_on_shared_cores(mpi which);

/// The words by which a launcher sets a variable for its ranks.
words set_variable(mpi which, const std::string& name, const std::string& value);

/// What a launcher must be told to start ranks as root, if this process is root.
words as_whoever_this_is(mpi which);

/// The file of that name in the folders of the environment's PATH; only what may be run.
std::optional<std::filesystem::path> find_in_path(std::string_view name);

/// Whose launcher the `mpirun` in PATH is, by what it says of itself.
std::optional<mpi> default_mpi();

/// The `mpirun` in PATH, if it is of this MPI, or else the one that Debian names after the MPI.
/// \throws std::runtime_error naming those that were looked for
std::filesystem::path find_launcher(mpi which);

}  // namespace muster::mpirun
