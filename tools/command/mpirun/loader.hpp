// Where the dynamic loader finds a library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/mpirun/elf.hpp"

namespace muster::mpirun {

/// A file whose libraries are looked for.
struct loaded {
  std::filesystem::path file;
  elf said;
  std::vector<std::string> rpaths;  ///< its own and those of what needs it, nearest first
};

/// Finds libraries as glibc's loader does: in the RPATHs of what needs it, LD_LIBRARY_PATH, the
/// RUNPATH, the system's cache, and the folders of the system.
class library_finder {
public:
  library_finder();
  /// The file that `by` gets for a name that it needs; nothing where there is none for x86-64.
  std::optional<loaded> find(std::string_view name, const loaded& by) const;

private:
  std::string cache_;  ///< of ld.so
  std::string from_environment_;
};

/// A program, before its libraries. Nothing where it is no ELF file for x86-64.
std::optional<loaded> load_program(const std::filesystem::path& file);

}  // namespace muster::mpirun
