// The libraries that are measured, and how a job of each is started at its best.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/bench/measured.hpp"
#include "tools/command/shared/process.hpp"

namespace muster::bench {

enum class library : std::uint8_t { muster, openmpi, openmpi_han, mpich, gloo };

inline constexpr std::array all_libraries{library::muster, library::openmpi, library::openmpi_han,
                                          library::mpich, library::gloo};

/// As on the command line and in JSON.
std::string_view name_of(library which);
/// As in tables and plots.
std::string_view title_of(library which);
std::optional<library> library_named(std::string_view name);
/// The MPI that a shim goes into. \throws std::invalid_argument for anything else
library parse_shim(const std::string& text);

/// The library itself, or the one of which it is another way to be told: Open MPI with HAN is
/// Open MPI.
library program_of(library which);
/// Whether it has this collective.
bool has_collective(library which, collective what);
/// Whether it is measured among made hosts alone.
bool needs_hosts(library which);
/// Beside whom Muster is measured unless others are asked for, as far as they are there.
std::vector<library> usual_peers(std::size_t hosts);

/// Who is measured: a library, or Muster with an algorithm of its own.
struct contender {
  library of = library::muster;
  std::string asked = {};  ///< Muster's algorithm; empty: nobody asked for one
  bool operator==(const contender&) const = default;
};

/// `Open MPI`, `Muster`, `Muster pairwise`
std::string title_of(const contender& who);

/// How large a job is.
struct extent {
  std::size_t ranks = 1;
  std::size_t nodes = 1;  ///< made-up ones that Muster's ranks are spread over
  std::size_t hosts = 1;  ///< made ones that all ranks are spread over

  bool operator==(const extent&) const = default;
};

/// Where the programs are.
struct program_places {
  std::filesystem::path muster;   ///< the `muster` command, which starts Muster's ranks
  std::filesystem::path workers;  ///< folder of worker_muster, worker_openmpi, …
  /// The MPI into whose ranks Muster is preloaded; nothing: Muster has its own.
  std::optional<library> shim_under = {};
  bool excluded = false;                    ///< it leaves all calls to that MPI
  bool in_torch = false;                    ///< as backends of torch.distributed, in Python
  std::filesystem::path catalog_file = {};  ///< with algorithms for Muster's ranks; empty: none
  std::filesystem::path remote_shell = {};  ///< to made hosts; empty: there are none

  /// What is preloaded into the ranks of an MPI.
  std::filesystem::path shim_for(library mpi) const;
};

/// What the environment variable MUSTER_BENCH_WORKERS says, or else a folder near the running
/// program. Throws std::runtime_error naming the places tried.
program_places find_programs();
/// Whether a library's worker was built or installed, and what starts it.
bool is_there(library which, const program_places& places);

/// The command that starts the ranks on a machine of `cores` usable cores. Where ranks outnumber
/// cores the MPIs are told to give their core away, which they need to be any good.
command launch_command(library which, const extent& size, std::size_t cores,
                       const program_places& places);

}  // namespace muster::bench
