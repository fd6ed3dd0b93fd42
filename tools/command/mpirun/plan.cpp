#include "tools/command/mpirun/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <stdexcept>

#include <muster/team/topology.hpp>

#include "tools/command/mpirun/linkage.hpp"
#include "tools/command/mpirun/words.hpp"

namespace muster::mpirun {
namespace {

namespace fs = std::filesystem;

constexpr std::array all_mpis{mpi::openmpi, mpi::mpich};

/// What a part's program is linked with; of a script that does not tell, whose mpirun is in PATH.
mpi mpi_of(part& one, mpi as) {
  if (one.program.empty()) {
    throw std::runtime_error(
        "mpirun: no program is named. Where a file names it, say which MPI it is for: --mpi "
        "openmpi or --mpi mpich");
  }
  const fs::path program = find_program(one.program.front(), folder_of(one, as));
  if (const auto found = mpi_of_program(program)) return *found;
  if (const auto found = default_mpi()) return *found;
  throw std::runtime_error(fmt::format(
      "mpirun: {} does not tell its MPI, and there is no mpirun of Open MPI or MPICH in "
      "PATH. Say which: --mpi openmpi or --mpi mpich",
      program.string()));
}

mpi mpi_of_all(std::span<part> parts, mpi as) {
  const mpi first = mpi_of(parts.front(), as);
  for (part& one : parts.subspan(1)) {
    if (mpi_of(one, as) == first) continue;
    throw std::runtime_error(fmt::format("mpirun: {} and {} are linked with different MPIs",
                                         parts.front().program.front(), one.program.front()));
  }
  return first;
}

/// Which words are options and which the program is for the launcher to say, and which launcher it
/// is for the program: the reading that agrees with itself.
mpi find_mpi(std::span<const std::string> said) {
  std::optional<std::runtime_error> why;
  for (const mpi as : all_mpis) {
    std::vector<part> parts = split(said, as);
    try {
      if (mpi_of_all(parts, as) == as) return as;
    } catch (const std::runtime_error& refusal) {
      if (!why) why = refusal;
    }
  }
  if (why) throw *why;
  throw std::runtime_error(
      "mpirun: it cannot be told which of these words are the launcher's options. Say which MPI it "
      "is: --mpi openmpi or --mpi mpich");
}

/// What the user says: options, and MCA parameters, in the environment, too.
std::set<std::string, std::less<>> said_by_user(std::span<part> parts, mpi as) {
  std::set<std::string, std::less<>> all;
  for (part& one : parts) {
    for (const option& each : options_of(one, as)) {
      all.emplace(each.name);
      if (each.name.ends_with("mca") && !each.arguments.empty()) all.insert(each.arguments.front());
    }
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    constexpr std::string_view prefix = "OMPI_MCA_";
    if (text.starts_with(prefix)) {
      all.emplace(text.substr(prefix.size(), text.find('=') - prefix.size()));
    }
  }
  return all;
}

void append(words& to, const words& more) { to.insert(to.end(), more.begin(), more.end()); }

/// What the launcher is told first, for all ranks.
words settings(std::span<part> parts, mpi as, bool cores_are_shared) {
  words told = as_whoever_this_is(as);
  const auto said = said_by_user(parts, as);
  if (said.contains("allow-run-as-root")) told.clear();
  if (!cores_are_shared) return told;
  for (const setting& each : settings_for_shared_cores(as)) {
    const bool is_said = std::ranges::any_of(
        each.instead, [&](std::string_view name) { return said.contains(name); });
    if (!is_said) append(told, each.told);
  }
  return told;
}

std::string what_to_preload(mpi which, bool cores_are_shared, const fs::path& command) {
  std::string files = find_beside(command, fmt::format("libmuster_{}.so", name_of(which)));
  const std::string_view other = preloaded_on_shared_cores(which);
  if (cores_are_shared && !other.empty()) files += ":" + find_beside(command, other).string();
  return files;
}

}  // namespace

environment_facts environment_facts::read() {
  return {fs::canonical("/proc/self/exe"), topology::read().cores().size()};
}

fs::path find_beside(const fs::path& command, std::string_view file) {
  std::string tried;
  // As Bazel builds it, and as it is installed, by tools/install or Debian's packages.
  for (const char* const folder :
       {"../mpi", "bench", "../lib", "../lib/x86_64-linux-gnu", "../libexec/muster"}) {
    const fs::path candidate = (command.parent_path() / folder / file).lexically_normal();
    tried += "\n  " + candidate.string();
    std::error_code ignored;
    if (!fs::exists(candidate, ignored)) continue;
    if (candidate.string().find_first_of(" :") == std::string::npos) return candidate;
    throw std::runtime_error(fmt::format(
        "mpirun: {} cannot be preloaded: its path has a space or a colon", candidate.string()));
  }
  throw std::runtime_error("mpirun: the library to preload is not there:" + tried);
}

words plan(std::span<const std::string> said, std::optional<mpi> by_hand,
           const environment_facts& in) {
  const mpi which = by_hand ? *by_hand : find_mpi(said);
  std::vector<part> parts = split(said, which);
  const auto ranks = ranks_asked_for(parts, which);
  const bool cores_are_shared = ranks && *ranks > in.cores;
  const std::string preloaded = what_to_preload(which, cores_are_shared, in.command);
  words all{find_launcher(which)};
  append(all, settings(parts, which, cores_are_shared));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) all.push_back(":");
    preload(parts[i], preloaded, which, i == 0);
    append(all, parts[i].options);
    append(all, parts[i].program);
  }
  return all;
}

}  // namespace muster::mpirun
