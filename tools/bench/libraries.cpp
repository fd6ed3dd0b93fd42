#include "tools/bench/libraries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace muster::bench {
namespace {

using arguments = std::vector<std::string>;

arguments muster_arguments(const extent& size, const program_places& places) {
  arguments all{places.muster, "run", "-n", std::to_string(size.ranks)};
  if (size.nodes > 1) all.insert(all.end(), {"--nodes", std::to_string(size.nodes)});
  all.push_back(places.workers / "worker_muster");
  return all;
}

/// As LD_PRELOAD has them.
std::string joined(const std::vector<std::string>& preloaded) {
  return fmt::format("{}", fmt::join(preloaded, ":"));
}

arguments openmpi_arguments(std::size_t ranks, bool own_core, const program_places& places,
                            bool with_shim) {
  arguments all{"/usr/bin/mpirun.openmpi", "--oversubscribe", "-np", std::to_string(ranks)};
  if (geteuid() == 0) all.push_back("--allow-run-as-root");
  // Bound round robin it is faster than unbound, where the scheduler at times gathers the ranks.
  const arguments placing =
      own_core ? arguments{"--bind-to", "core"} : arguments{"--map-by",  "core",
                                                            "--bind-to", "core:overload-allowed",
                                                            "--mca",     "mpi_yield_when_idle",
                                                            "1"};
  all.insert(all.end(), placing.begin(), placing.end());
  if (with_shim) {
    all.insert(all.end(), {"-x", "LD_PRELOAD=" + places.shim_for(library::openmpi).string()});
  }
  all.push_back(places.workers / "worker_openmpi");
  return all;
}

arguments mpich_arguments(std::size_t ranks, bool own_core, const program_places& places,
                          bool with_shim) {
  arguments all{"/usr/bin/mpirun.mpich", "-n", std::to_string(ranks)};
  all.insert(all.end(), {"-bind-to", "core"});
  std::vector<std::string> preloaded;
  if (with_shim) preloaded.push_back(places.shim_for(library::mpich));
  if (!own_core) preloaded.push_back(places.workers / "libmpich_yield.so");
  if (!preloaded.empty()) all.insert(all.end(), {"-genv", "LD_PRELOAD", joined(preloaded)});
  all.push_back(places.workers / "worker_mpich");
  return all;
}

}  // namespace

std::string_view name_of(library which) {
  constexpr std::array<std::string_view, all_libraries.size()> names{"muster", "openmpi", "mpich"};
  return names[static_cast<std::size_t>(which)];
}

std::string_view title_of(library which) {
  constexpr std::array<std::string_view, all_libraries.size()> titles{"Muster", "Open MPI",
                                                                      "MPICH"};
  return titles[static_cast<std::size_t>(which)];
}

std::optional<library> library_named(std::string_view name) {
  for (const library which : all_libraries) {
    if (name_of(which) == name) return which;
  }
  return std::nullopt;
}

std::string title_of(const contender& who) {
  const std::string library(title_of(who.of));
  return who.asked.empty() ? library : library + " " + who.asked;
}

program_places find_programs() {
  const std::filesystem::path self = std::filesystem::canonical("/proc/self/exe");
  const std::filesystem::path folder = self.parent_path();
  std::vector<std::filesystem::path> candidates{folder / "../bench", folder,
                                                folder / "../libexec/muster"};
  if (const char* given = std::getenv("MUSTER_BENCH_WORKERS")) candidates = {given};

  std::string tried;
  for (const auto& candidate : candidates) {
    for (const library which : all_libraries) {
      const auto worker = candidate / fmt::format("worker_{}", name_of(which));
      if (std::filesystem::exists(worker)) {
        return {self, std::filesystem::weakly_canonical(candidate)};
      }
    }
    tried += "\n  " + candidate.lexically_normal().string();
  }
  throw std::runtime_error(
      "the benchmark's workers (worker_muster, worker_openmpi, worker_mpich) are in none of" +
      tried + "\nBuild //tools/bench:workers, or set MUSTER_BENCH_WORKERS to their folder.");
}

std::filesystem::path program_places::shim_for(library mpi) const {
  return (workers / "../shim" / fmt::format("libmuster_{}.so", name_of(mpi))).lexically_normal();
}

command launch_command(library which, const extent& size, std::size_t cores,
                       const program_places& places) {
  const bool own_core = size.ranks <= cores;
  const bool with_shim = which == library::muster && places.shim_under;
  switch (with_shim ? *places.shim_under : which) {
    case library::muster:
      return {muster_arguments(size, places), {}};
    case library::openmpi:
      return {openmpi_arguments(size.ranks, own_core, places, with_shim), {}};
    case library::mpich:
      return {mpich_arguments(size.ranks, own_core, places, with_shim), {}};
  }
  return {};
}

}  // namespace muster::bench
