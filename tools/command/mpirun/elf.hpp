// What a program or library says to the dynamic loader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace muster::mpirun {

/// Of an ELF file for x86-64.
struct elf {
  bool has_loader = false;          ///< a program that the dynamic loader starts
  std::vector<std::string> needed;  ///< names of libraries, in its order
  std::string runpath;              ///< folders to look in, joined by colons
  std::string rpath;                ///< an older form of it, which holds for what is needed, too
};

enum class file_kind : std::uint8_t { elf, other_elf, script, other };

/// What a file begins as; `other_elf`: not for x86-64.
file_kind kind_of(const std::filesystem::path& file);

/// Nothing where the file cannot be read, or is no sound ELF file for x86-64.
std::optional<elf> read_elf(const std::filesystem::path& file);

}  // namespace muster::mpirun
