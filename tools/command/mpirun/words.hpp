// The words of a launcher's command line.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/mpirun/launchers.hpp"

namespace muster::mpirun {

/// An option with its arguments: a run of a part's words.
struct option {
  std::string_view name;  ///< without dashes
  std::span<std::string> arguments;
};

/// What a launcher is told of one program; several are separated by colons.
struct part {
  words options;
  words program;  ///< with its arguments; empty: none is named
};

/// Reads a command line as the launcher of an MPI would.
std::vector<part> split(std::span<const std::string> all, mpi as);

/// The options of a part.
std::vector<option> options_of(part& in, mpi as);

/// How many ranks are asked for; nothing where a part leaves it to the launcher, or where some may
/// run on other machines, whose cores are not known here.
std::optional<std::size_t> ranks_asked_for(std::span<part> all, mpi as);

/// The folder that a part's program is started in, if one is asked for; "." otherwise.
std::string folder_of(part& in, mpi as);

/// Adds a file to what the ranks of a part preload: behind what its words, or else the environment,
/// name. \param is_first whether it is the first part
void preload(part& in, const std::string& file, mpi as, bool is_first);

}  // namespace muster::mpirun
