#include "tools/command/bench/libraries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <muster/environment/environment.hpp>

#include "tools/command/mpirun/launchers.hpp"
#include "tools/command/shared/made_hosts.hpp"

namespace muster::bench {
namespace {

using arguments = std::vector<std::string>;

void append(arguments& to, const arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Up to the program that `muster run` starts.
arguments started_by_muster(const extent& size, const program_places& places) {
  arguments all{places.muster, "run", "-n", std::to_string(size.ranks)};
  if (size.hosts > 1) {
    append(all, {"--hosts", made_hosts::list(size.ranks, size.hosts), "--remote-shell",
                 made_hosts::remote_shell()});
  }
  return all;
}

/// As LD_PRELOAD has them.
std::string joined(const std::vector<std::string>& preloaded) {
  return fmt::format("{}", fmt::join(preloaded, ":"));
}

/// What every library's ranks have, so that what they post is counted alike.
arguments counting(const extent& size, const program_places& places) {
  if (size.hosts == 1 || !made_hosts::have_rdma()) return {};
  return {places.workers / "libverbs_count.so"};
}

arguments muster_arguments(const extent& size, const program_places& places) {
  arguments all = started_by_muster(size, places);
  if (size.nodes > 1) append(all, {"--nodes", std::to_string(size.nodes)});
  const arguments preloaded = counting(size, places);
  if (!preloaded.empty()) append(all, {"/usr/bin/env", "LD_PRELOAD=" + joined(preloaded)});
  all.push_back(places.workers / "worker_muster");
  if (!places.catalog_file.empty()) append(all, {"--catalog", places.catalog_file.string()});
  return all;
}

/// A rank of Gloo's has a thread that sends and receives: with cores enough, both are left theirs.
arguments placing_gloo(bool own_core) {
  return own_core ? arguments{"--bind", "none"} : arguments{};
}

arguments gloo_arguments(const extent& size, bool own_core, const program_places& places) {
  arguments all = started_by_muster(size, places);
  append(all, placing_gloo(own_core));
  append(all, {places.workers / "worker_gloo", made_hosts::interface});
  return all;
}

/// Debian's Python, for which Debian's torch is.
arguments torch_arguments(library backend, const extent& size, bool own_core,
                          const program_places& places) {
  arguments all = started_by_muster(size, places);
  if (backend == library::gloo) append(all, placing_gloo(own_core));
  if (backend == library::muster && size.nodes > 1)
    append(all, {"--nodes", std::to_string(size.nodes)});
  append(all, {"/usr/bin/python3", places.workers / "worker_torch.py",
               std::string(name_of(backend)), size.hosts > 1 ? made_hosts::interface : ""});
  return all;
}

mpirun::mpi launched_by(library mpi) {
  return program_of(mpi) == library::openmpi ? mpirun::mpi::openmpi : mpirun::mpi::mpich;
}

/// How an MPI's ranks are placed and wait.
arguments placing(mpirun::mpi which, bool own_core) {
  if (own_core) {
    return which == mpirun::mpi::openmpi ? arguments{"--oversubscribe", "--bind-to", "core"}
                                         : arguments{"-bind-to", "core"};
  }
  arguments all;
  for (const mpirun::setting& each : mpirun::settings_for_shared_cores(which)) {
    append(all, each.told);
  }
  return all;
}

/// Hosts of MPICH talk by one thing alone; within a host it has shared memory of its own. By which
/// RDMA devices they talk is in the environment that tools/hosts gives them.
arguments mpich_fabric() {
  if (made_hosts::have_rdma()) return {"-genv", "UCX_TLS", "rc_v,self"};
  return {"-iface",   "rail0", "-genv",           "UCX_TLS",
          "tcp,self", "-genv", "UCX_NET_DEVICES", made_hosts::interface};
}

arguments openmpi_fabric() {
  if (made_hosts::have_rdma()) {
    return {"--mca", "pml", "ucx", "--mca", "btl", "^openib", "-x", "UCX_TLS=rc_v,sm,self"};
  }
  arguments all{"--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp"};
  for (const char* const name : {"oob_tcp_if_include", "btl_tcp_if_include"}) {
    append(all, {"--mca", name, made_hosts::network});
  }
  return all;
}

/// Muster's variables, of which Open MPI tells no other host unasked.
arguments settings_passed_on() {
  arguments all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::strcspn(*entry, "="));
    if (name.starts_with("MUSTER_")) append(all, {"-x", std::string(name)});
  }
  return all;
}

/// Over made hosts, which have cores of their own.
arguments placing_on_hosts(mpirun::mpi which, const extent& size, bool own_core,
                           const std::string& shell) {
  const std::string hosts = made_hosts::list(size.ranks, size.hosts);
  if (which == mpirun::mpi::mpich) {
    arguments all{"-launcher", "ssh", "-launcher-exec", shell, "-hosts", hosts, "-bind-to", "none"};
    append(all, mpich_fabric());
    return all;
  }
  arguments all{"--host", hosts,   "--oversubscribe", "--bind-to",
                "none",   "--mca", "plm_rsh_agent",   shell};
  append(all, openmpi_fabric());
  if (!own_core) append(all, {"--mca", "mpi_yield_when_idle", "1"});
  append(all, {"-x", environment::bench_socket.name});
  append(all, settings_passed_on());
  return all;
}

std::filesystem::path worker_of(library which, const std::filesystem::path& folder) {
  return folder / fmt::format("worker_{}", name_of(program_of(which)));
}

std::string mpi_launcher(library mpi) {
  return fmt::format("/usr/bin/mpirun.{}", name_of(program_of(mpi)));
}

arguments mpi_arguments(library mpi, const extent& size, bool own_core,
                        const program_places& places, bool with_shim) {
  const mpirun::mpi which = launched_by(mpi);
  arguments all{mpi_launcher(mpi), "-n", std::to_string(size.ranks)};
  append(all, mpirun::as_whoever_this_is(which));
  append(all, size.hosts > 1 ? placing_on_hosts(which, size, own_core, places.remote_shell)
                             : placing(which, own_core));
  if (mpi == library::openmpi_han) append(all, {"--mca", "coll_han_priority", "100"});
  arguments preloaded = counting(size, places);
  if (with_shim) preloaded.push_back(places.shim_for(mpi));
  const std::string yielding(mpirun::preloaded_on_shared_cores(which));
  if (!own_core && !yielding.empty()) preloaded.push_back(places.workers / yielding);
  if (!preloaded.empty()) append(all, mpirun::set_variable(which, "LD_PRELOAD", joined(preloaded)));
  // A call that is never measured: all is made ready for it, as for any other.
  if (with_shim && places.excluded) {
    append(all, mpirun::set_variable(which, environment::enable.name, "ibarrier"));
  }
  all.push_back(worker_of(mpi, places.workers));
  return all;
}

}  // namespace

std::string_view name_of(library which) {
  constexpr std::array<std::string_view, all_libraries.size()> names{
      "muster", "openmpi", "openmpi_han", "mpich", "gloo"};
  return names[static_cast<std::size_t>(which)];
}

std::string_view title_of(library which) {
  constexpr std::array<std::string_view, all_libraries.size()> titles{
      "Muster", "Open MPI", "Open MPI with HAN", "MPICH", "Gloo"};
  return titles[static_cast<std::size_t>(which)];
}

std::optional<library> library_named(std::string_view name) {
  for (const library which : all_libraries) {
    if (name_of(which) == name) return which;
  }
  return std::nullopt;
}

library parse_shim(const std::string& text) {
  const auto which = library_named(text);
  if (which == library::openmpi || which == library::mpich) return *which;
  throw std::invalid_argument(fmt::format("'{}' is not an MPI; expected openmpi or mpich", text));
}

library program_of(library which) {
  return which == library::openmpi_han ? library::openmpi : which;
}

bool has_collective(library which, collective what) {
  if (which != library::gloo) return true;
  return std::ranges::find(usual_collectives, what) != usual_collectives.end();
}

bool needs_hosts(library which) { return which == library::openmpi_han || which == library::gloo; }

std::vector<library> usual_peers(std::size_t hosts) {
  std::vector<library> peers;
  for (const library which : all_libraries) {
    if (which == library::gloo && made_hosts::have_rdma()) continue;  // it has TCP alone
    if (which != library::muster && (hosts > 1 || !needs_hosts(which))) peers.push_back(which);
  }
  return peers;
}

std::string title_of(const contender& who) {
  const std::string library(title_of(who.of));
  return who.asked.empty() ? library : library + " " + who.asked;
}

program_places find_programs() {
  const std::filesystem::path self = std::filesystem::canonical("/proc/self/exe");
  const std::filesystem::path folder = self.parent_path();
  std::vector<std::filesystem::path> candidates{folder / "bench", folder,
                                                folder / "../libexec/muster"};
  if (const char* given = environment::read(environment::bench_workers)) candidates = {given};

  std::string tried;
  for (const auto& candidate : candidates) {
    for (const library which : all_libraries) {
      if (std::filesystem::exists(worker_of(which, candidate))) {
        return {self, std::filesystem::weakly_canonical(candidate)};
      }
    }
    tried += "\n  " + candidate.lexically_normal().string();
  }
  throw std::runtime_error(
      "the benchmark's workers (worker_muster, worker_openmpi, worker_mpich, worker_gloo) are in "
      "none of" +
      tried +
      "\nBuild //tools/command/bench:workers, or set MUSTER_BENCH_WORKERS to their folder.");
}

bool is_there(library which, const program_places& places) {
  if (!std::filesystem::exists(worker_of(which, places.workers))) return false;
  return which == library::gloo || std::filesystem::exists(mpi_launcher(which));
}

std::filesystem::path program_places::shim_for(library mpi) const {
  const std::string file = fmt::format("libmuster_{}.so", name_of(mpi));
  // As it is installed, by tools/install or Debian's packages, and as Bazel builds it.
  for (const char* const folder : {"../../lib", "../../lib/x86_64-linux-gnu"}) {
    const auto installed = (workers / folder / file).lexically_normal();
    if (std::filesystem::exists(installed)) return installed;
  }
  return (workers / "../../mpi" / file).lexically_normal();
}

command launch_command(library which, const extent& size, std::size_t cores,
                       const program_places& places) {
  const bool own_core = size.ranks <= cores;
  if (places.in_torch) return {torch_arguments(which, size, own_core, places), {}};
  const bool with_shim = which == library::muster && places.shim_under;
  const library starts = with_shim ? *places.shim_under : which;
  if (starts == library::muster) return {muster_arguments(size, places), {}};
  if (starts == library::gloo) return {gloo_arguments(size, own_core, places), {}};
  return {mpi_arguments(starts, size, own_core, places, with_shim), {}};
}

}  // namespace muster::bench
