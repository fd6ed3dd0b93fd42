#include "tools/command/mpirun/launchers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include "tools/command/mpirun/output_of.hpp"

namespace muster::mpirun {
namespace {

/// `mpirun (Open MPI) 5.0`, `mpirun.openmpi (OpenRTE) 4.1.4`, `HYDRA build details:`
std::optional<mpi> launcher_that_says(std::string_view version) {
  const auto says = [&](std::string_view text) { return version.find(text) != version.npos; };
  if (says("Open MPI") || says("OpenRTE")) return mpi::openmpi;
  if (says("HYDRA")) return mpi::mpich;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(mpi which) { return which == mpi::openmpi ? "openmpi" : "mpich"; }

std::string_view title_of(mpi which) { return which == mpi::openmpi ? "Open MPI" : "MPICH"; }

std::span<const setting> settings_for_shared_cores(mpi which) {
  static const std::array openmpi{
      setting{{"--oversubscribe"}, {"oversubscribe", "nooversubscribe"}},
      // Bound round robin they are faster than unbound.
      setting{{"--map-by", "core", "--bind-to", "core:overload-allowed"},
              {"map-by",
               "bind-to",
               "bind-to-core",
               "bind-to-socket",
               "rank-by",
               "rankfile",
               "rf",
               "bycore",
               "bynode",
               "byslot",
               "cpu-list",
               "cpu-set",
               "cpus-per-proc",
               "cpus-per-rank",
               "N",
               "npernode",
               "npersocket",
               "pernode",
               "ppr",
               "use-hwthread-cpus",
               "rmaps_base_mapping_policy",
               "hwloc_base_binding_policy"}},
      setting{{"--mca", "mpi_yield_when_idle", "1"}, {"mpi_yield_when_idle"}}};
  static const std::array mpich{
      setting{{"-bind-to", "core"}, {"bind-to", "binding", "map-by", "topolib"}}};
  if (which == mpi::openmpi) return openmpi;
  return mpich;
}

std::string_view preloaded_on_shared_cores(mpi which) {
  return which == mpi::mpich ? "libmpich_yield.so" : "";
}

words set_variable(mpi which, const std::string& name, const std::string& value) {
  if (which == mpi::openmpi) return {"-x", fmt::format("{}={}", name, value)};
  return {"-genv", name, value};
}

words as_whoever_this_is(mpi which) {
  if (which == mpi::openmpi && geteuid() == 0) return {"--allow-run-as-root"};
  return {};
}

std::optional<std::filesystem::path> find_in_path(std::string_view name) {
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const auto file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return std::nullopt;
}

std::optional<mpi> default_mpi() {
  const auto launcher = find_in_path("mpirun");
  if (!launcher) return std::nullopt;
  return launcher_that_says(output_of({launcher->string(), "--version"}));
}

std::filesystem::path find_launcher(mpi which) {
  if (default_mpi() == which) return *find_in_path("mpirun");
  const std::string named = fmt::format("mpirun.{}", name_of(which));
  if (const auto launcher = find_in_path(named)) return *launcher;
  throw std::runtime_error(
      fmt::format("mpirun: there is no launcher of {0}: the mpirun in PATH is not {0}'s, and there "
                  "is no {1}",
                  title_of(which), named));
}

}  // namespace muster::mpirun
