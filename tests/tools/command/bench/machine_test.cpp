#include "tools/report/machine.hpp"

#include <doctest/doctest.h>

#include "tools/command/bench/libraries.hpp"
#include "tools/command/shared/process.hpp"
#include "transports/shm/trip.hpp"

namespace muster::bench {
namespace {

TEST_CASE("machine: the busy share comes from the first line of /proc/stat") {
  const cpu_times times = parse_cpu_times("cpu  10 1 5 80 4 0 0 2 7 0");
  CHECK(times.all == 102);
  CHECK(times.busy == 18);
}

TEST_CASE("machine: there are CPUs, memory and a name") {
  CHECK(usable_cpus() >= 1);
  CHECK(available_memory() > 0);
  CHECK_FALSE(machine_name().empty());
}

TEST_CASE("machine: a message takes a trip and a copy, within the cache or beyond") {
  muster::machine seen;
  seen.trip_ns = 100;
  seen.yield_ns = 700;
  seen.in_cache.staged = 10;
  seen.beyond_cache.staged = 2;
  seen.cache_bytes = 4000;
  CHECK(message_time(seen, 0).count() == 100);
  CHECK(message_time(seen, 2000).count() == 300);
  CHECK(message_time(seen, 4000).count() == 2100);
  seen.trip_ns = 0;  // one core
  CHECK(message_time(seen, 2000).count() == 900);
}

TEST_CASE("machine: CPU lists") {
  CHECK(shm::lists_cpu("0,64", 64));
  CHECK_FALSE(shm::lists_cpu("0,64", 6));
  CHECK(shm::lists_cpu("0-3,8", 2));
  CHECK(shm::lists_cpu("0-3,8", 8));
  CHECK_FALSE(shm::lists_cpu("0-3,8", 5));
  CHECK_FALSE(shm::lists_cpu("", 0));
}

TEST_CASE("machine: the trip is measured where there are two CPUs, and else left out") {
  CHECK_FALSE(shm::trip_probe(std::nullopt).measure_ns().has_value());
  shm::trip_probe impossible(shm::cpu_pair{0, 1'000'000});
  CHECK_FALSE(impossible.measure_ns().has_value());
  if (const auto cpus = shm::probe_cpus()) {
    const auto trip_ns = shm::trip_probe(*cpus).measure_ns();
    REQUIRE(trip_ns.has_value());
    CHECK(*trip_ns > 1);
  }
}

TEST_CASE("machine: shared-memory files in a process's map") {
  const auto files = shared_memory_in(
      "7f00-7f01 rw-s 00000000 00:19 3 /dev/shm/vader_segment.host.0.1\n"
      "7f01-7f02 rw-s 00001000 00:19 3 /dev/shm/vader_segment.host.0.1\n"
      "7f02-7f03 rw-s 00000000 00:19 4 /dev/shm/gone (deleted)\n"
      "7f03-7f04 r-xp 00000000 fe:00 5 /usr/lib/libc.so.6\n");
  REQUIRE(files.size() == 1);
  CHECK(files[0] == "/dev/shm/vader_segment.host.0.1");
}

bool has(const command& what, std::string_view word) {
  for (const std::string& one : what.arguments) {
    if (one == word) return true;
  }
  return false;
}

TEST_CASE("libraries: the MPIs give their core away where ranks outnumber the cores") {
  const program_places places{"/bin/muster", "/lib/command/bench"};
  CHECK(has(launch_command(library::openmpi, {2}, 2, places), "core"));
  CHECK_FALSE(has(launch_command(library::openmpi, {2}, 2, places), "mpi_yield_when_idle"));
  CHECK(has(launch_command(library::openmpi, {4}, 2, places), "mpi_yield_when_idle"));
  CHECK(has(launch_command(library::openmpi, {4}, 2, places), "core:overload-allowed"));
  CHECK_FALSE(has(launch_command(library::mpich, {2}, 2, places), "LD_PRELOAD"));
  CHECK(
      has(launch_command(library::mpich, {4}, 2, places), "/lib/command/bench/libmpich_yield.so"));
  CHECK(has(launch_command(library::mpich, {4}, 2, places), "-bind-to"));
  const command ours = launch_command(library::muster, {4}, 2, places);
  CHECK(ours.arguments == std::vector<std::string>{"/bin/muster", "run", "-n", "4",
                                                   "/lib/command/bench/worker_muster"});
}

TEST_CASE("libraries: only Muster's ranks are spread over made-up nodes") {
  const program_places places{"/bin/muster", "/lib/command/bench"};
  CHECK(has(launch_command(library::muster, {4, 2}, 2, places), "--nodes"));
  CHECK_FALSE(has(launch_command(library::muster, {4, 1}, 2, places), "--nodes"));
  CHECK_FALSE(has(launch_command(library::openmpi, {4, 2}, 2, places), "--nodes"));
  CHECK_FALSE(has(launch_command(library::mpich, {4, 2}, 2, places), "--nodes"));
}

TEST_CASE("libraries: what they post is counted between hosts, where they talk by RDMA") {
  const program_places places{"/bin/muster", "/lib/command/bench"};
  const std::string counting = "/lib/command/bench/libverbs_count.so";
  const extent hosts{.ranks = 4, .hosts = 2};
  CHECK_FALSE(has(launch_command(library::muster, hosts, 4, places), "LD_PRELOAD=" + counting));
  ::setenv("MUSTER_FABRIC", "verbs", 1);
  CHECK(has(launch_command(library::muster, hosts, 4, places), "LD_PRELOAD=" + counting));
  CHECK(has(launch_command(library::openmpi, hosts, 4, places), "LD_PRELOAD=" + counting));
  CHECK(has(launch_command(library::mpich, hosts, 4, places), counting));
  CHECK(has(launch_command(library::mpich, hosts, 2, places),
            counting + ":/lib/command/bench/libmpich_yield.so"));
  CHECK_FALSE(has(launch_command(library::mpich, {4}, 4, places), counting));
  ::unsetenv("MUSTER_FABRIC");
}

TEST_CASE("libraries: Muster under an MPI is that MPI with the shim preloaded") {
  program_places places{"/bin/muster", "/lib/command/bench"};
  places.shim_under = library::openmpi;
  const std::string_view preload = "LD_PRELOAD=/lib/mpi/libmuster_openmpi.so";
  CHECK(has(launch_command(library::muster, {4}, 2, places), preload));
  CHECK(has(launch_command(library::muster, {4}, 2, places), "/lib/command/bench/worker_openmpi"));
  CHECK_FALSE(has(launch_command(library::openmpi, {4}, 2, places), preload));
  places.shim_under = library::mpich;
  CHECK(has(launch_command(library::muster, {2}, 2, places), "/lib/mpi/libmuster_mpich.so"));
  CHECK(has(launch_command(library::muster, {4}, 2, places),
            "/lib/mpi/libmuster_mpich.so:/lib/command/bench/libmpich_yield.so"));
  CHECK_FALSE(has(launch_command(library::mpich, {2}, 2, places), "LD_PRELOAD"));
}

TEST_CASE("libraries: Open MPI with HAN is Open MPI that is told so, on hosts") {
  const program_places places{
      .muster = "/bin/muster", .workers = "/lib/command/bench", .remote_shell = "/tmp/shell"};
  const command han = launch_command(library::openmpi_han, {4, 1, 2}, 2, places);
  CHECK(has(han, "/usr/bin/mpirun.openmpi"));
  CHECK(has(han, "coll_han_priority"));
  CHECK(has(han, "/lib/command/bench/worker_openmpi"));
  CHECK(has(han, "ob1"));
  CHECK_FALSE(has(launch_command(library::openmpi, {4, 1, 2}, 2, places), "coll_han_priority"));
}

TEST_CASE("libraries: Gloo's ranks are started by Muster and told an interface") {
  const program_places places{"/bin/muster", "/lib/command/bench"};
  const command gloo = launch_command(library::gloo, {4, 1, 2}, 2, places);
  CHECK(has(gloo, "/bin/muster"));
  CHECK(has(gloo, "h0:2,h1:2"));
  REQUIRE(gloo.arguments.size() > 2);
  CHECK(gloo.arguments.back() == "eth0");
  CHECK(gloo.arguments.end()[-2] == "/lib/command/bench/worker_gloo");
}

TEST_CASE("libraries: in torch the backends are told apart by a word, and started alike") {
  const program_places places{
      .muster = "/bin/muster", .workers = "/lib/command/bench", .in_torch = true};
  const command here = launch_command(library::muster, {2, 2, 1}, 2, places);
  CHECK(has(here, "/lib/command/bench/worker_torch.py"));
  CHECK(has(here, "muster"));
  CHECK(has(here, "--nodes"));
  CHECK_FALSE(has(here, "none"));
  CHECK_FALSE(has(here, "eth0"));
  const command gloo = launch_command(library::gloo, {2, 1, 2}, 2, places);
  CHECK(has(gloo, "gloo"));
  CHECK(has(gloo, "none"));  // its threads have both cores
  CHECK_FALSE(has(launch_command(library::gloo, {4, 1, 2}, 2, places), "none"));
  CHECK(gloo.arguments.back() == "eth0");
}

TEST_CASE("libraries: who is measured where") {
  using enum library;
  CHECK(usual_peers(1) == std::vector{openmpi, mpich});
  CHECK(usual_peers(2) == std::vector{openmpi, openmpi_han, mpich, gloo});
  for (const library peer : usual_peers(1)) CHECK_FALSE(needs_hosts(peer));
}

TEST_CASE("libraries: Gloo has the usual collectives alone") {
  for (const collective what : usual_collectives) CHECK(has_collective(library::gloo, what));
  CHECK_FALSE(has_collective(library::gloo, collective::scan));
  CHECK(has_collective(library::openmpi_han, collective::scan));
}

TEST_CASE("libraries: names") {
  for (const library which : all_libraries) CHECK(library_named(name_of(which)) == which);
  CHECK_FALSE(library_named("lam").has_value());
}

}  // namespace
}  // namespace muster::bench
