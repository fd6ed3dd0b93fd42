#include "tools/command/mpirun/linkage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <deque>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tools/command/mpirun/loader.hpp"
#include "tools/command/mpirun/output_of.hpp"

namespace muster::mpirun {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& program, std::string_view what) {
  throw std::runtime_error(fmt::format("mpirun: {} {}", program.string(), what));
}

/// The first MPI among all libraries, in the order in which the loader would load them.
std::optional<mpi> mpi_needed_by(loaded program) {
  const library_finder finder;
  std::set<std::string> seen;
  for (std::deque<loaded> next{std::move(program)}; !next.empty(); next.pop_front()) {
    for (const std::string& name : next.front().said.needed) {
      if (const auto found = mpi_of_library(name)) return found;
      if (!seen.insert(name).second) continue;
      if (auto library = finder.find(name, next.front())) next.push_back(std::move(*library));
    }
  }
  return std::nullopt;
}

bool is_python(const fs::path& program) {
  const std::string name = program.filename();
  return name.starts_with("python") || name.starts_with("pypy");
}

std::optional<mpi> mpi_of_mpi4py(const fs::path& python) {
  const std::string module = output_of(
      {python, "-c",
       "from importlib.util import find_spec; print(find_spec('mpi4py.MPI').origin, end='')"});
  if (module.empty()) return std::nullopt;
  auto library = load_program(module);
  return library ? mpi_needed_by(std::move(*library)) : std::nullopt;
}

/// The program that a script's first line names; `/usr/bin/env -S NAME=… python3` names Python.
std::optional<fs::path> interpreter_of(const fs::path& script) {
  std::ifstream file(script);
  std::string line;
  std::getline(file, line);
  std::istringstream said(line.substr(2));
  std::string word;
  said >> word;
  if (fs::path(word).filename() != "env") return word;
  while (said >> word) {
    if (!word.starts_with('-') && word.find('=') == word.npos) return find_in_path(word);
  }
  return std::nullopt;
}

std::optional<mpi> mpi_of_script(const fs::path& script) {
  const auto interpreter = interpreter_of(script);
  std::error_code ignored;
  if (!interpreter || !fs::is_regular_file(*interpreter, ignored)) {
    refuse(script, "names no interpreter that is there in its first line");
  }
  if (auto program = load_program(*interpreter)) {
    if (const auto found = mpi_needed_by(std::move(*program))) return found;
  }
  return is_python(*interpreter) ? mpi_of_mpi4py(*interpreter) : std::nullopt;
}

std::optional<mpi> mpi_of_binary(const fs::path& file) {
  auto program = load_program(file);
  if (!program->said.has_loader) {
    refuse(file, "is statically linked: no library can be loaded before its MPI");
  }
  if (const auto found = mpi_needed_by(std::move(*program))) return found;
  if (is_python(file)) return mpi_of_mpi4py(file);
  refuse(file,
         "is linked with neither Open MPI nor MPICH. If it starts a program that is, say which: "
         "--mpi openmpi or --mpi mpich");
}

}  // namespace

std::optional<mpi> mpi_of_library(std::string_view name) {
  if (name.starts_with("libmpich.so")) return mpi::mpich;
  if (!name.starts_with("libmpi.so")) return std::nullopt;
  // MPICH and its kin, where they are not Debian's, have agreed on this number.
  return name == "libmpi.so.12" ? mpi::mpich : mpi::openmpi;
}

fs::path find_program(const std::string& name, const fs::path& folder) {
  if (name.find('/') == name.npos) {
    if (const auto found = find_in_path(name)) return *found;
  }
  const fs::path file = folder / name;  // `name` where that is absolute
  std::error_code ignored;
  if (!fs::exists(file, ignored)) refuse(name, "is not there");
  if (!fs::is_regular_file(file, ignored)) refuse(name, "is not a program");
  if (access(file.c_str(), X_OK) != 0) refuse(name, "may not be run");
  return file;
}

std::optional<mpi> mpi_of_program(const fs::path& program) {
  switch (kind_of(program)) {
    case file_kind::elf:
      return mpi_of_binary(program);
    case file_kind::script:
      return mpi_of_script(program);
    case file_kind::other_elf:
      refuse(program, "is not a program for x86-64");
    case file_kind::other:
      break;
  }
  refuse(program, "is neither a program nor a script that begins with #!");
}

}  // namespace muster::mpirun
