// Which MPI a program is linked with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tools/command/mpirun/launchers.hpp"

namespace muster::mpirun {

/// Whose library it is, by its name: `libmpi.so.40`, `libmpich.so.12`.
std::optional<mpi> mpi_of_library(std::string_view name);

/// The program that a launcher would start for a name: with a slash, a file seen from `folder`;
/// else what PATH has, or the folder.
/// \throws std::runtime_error where there is none that may be run
std::filesystem::path find_program(const std::string& name, const std::filesystem::path& folder);

/// Of an ELF program: by the libraries that it needs, and that these need. Of a script: of its
/// interpreter. Of Python: of the module mpi4py that this Python would import. Nothing of other
/// scripts.
/// \throws std::runtime_error where the program cannot be a rank that loads the library: it is
/// statically linked, for another processor, or linked with no MPI
std::optional<mpi> mpi_of_program(const std::filesystem::path& program);

}  // namespace muster::mpirun
