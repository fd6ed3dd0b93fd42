// The libraries that are measured, and how a job of each is started at its best.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "tools/bench/process.hpp"

namespace muster::bench {

enum class library : std::uint8_t { muster, openmpi, mpich };

inline constexpr std::array all_libraries{library::muster, library::openmpi, library::mpich};

/// As on the command line and in JSON.
std::string_view name_of(library which);
/// As in tables and plots.
std::string_view title_of(library which);
std::optional<library> library_named(std::string_view name);

/// Where the programs are.
struct program_places {
  std::filesystem::path muster;   ///< the `muster` command, which starts Muster's ranks
  std::filesystem::path workers;  ///< folder of worker_muster, worker_openmpi, …
};

/// What the environment variable MUSTER_BENCH_WORKERS says, or else a folder near the running
/// program. Throws std::runtime_error naming the places tried.
program_places find_programs();

/// The command that starts `ranks` ranks on a machine of `cores` usable cores. Where ranks
/// outnumber cores the MPIs are told to give their core away, which they need to be any good.
command launch_command(library which, std::size_t ranks, std::size_t cores,
                       const program_places& places);

}  // namespace muster::bench
