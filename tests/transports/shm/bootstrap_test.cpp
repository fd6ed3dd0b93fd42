// Processes that others started become the ranks of a job, or all learn why they cannot.

#include "transports/shm/bootstrap.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include <muster/progress/affinity.hpp>

#include "tests/harness/failure.hpp"
#include "tests/transports/shm/rank_processes.hpp"
#include "tools/conformance/build.hpp"
#include "transports/shm/handshake.hpp"
#include "transports/shm/measure.hpp"
#include "transports/shm/trip.hpp"

namespace muster::testing {
namespace {

using std::chrono::milliseconds;

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

task<std::string> use(team& all) {
  const auto rank = static_cast<int>(all.rank());
  const auto ranks = static_cast<int>(all.size());
  std::vector<int> sums(5000, rank);
  co_await allreduce(all, sums, sum);
  if (std::ranges::count(sums, ranks * (ranks - 1) / 2) != std::ssize(sums)) {
    co_return "a wrong sum";
  }
  constexpr int each = 20'000;  // long enough to be read where it is
  std::vector<int> send(all.size() * each);
  std::vector<int> receive(send.size());
  for (std::size_t i = 0; i < send.size(); ++i) {
    send[i] = rank * ranks + static_cast<int>(i) / each;
  }
  co_await alltoall(all, send, receive);
  for (std::size_t i = 0; i < receive.size(); ++i) {
    if (receive[i] != static_cast<int>(i) / each * ranks + rank) co_return "a wrong block";
  }
  co_return "";
}

std::string join_use_and_leave(bootstrap& with) {
  const auto before = open_descriptors();
  {
    world all(with);
    if (all.team().rank() != with.rank()) return "another rank";
    if (all.team().size() != with.size()) return "another size";
    const std::string wrong = all.run(use(all.team()));
    if (!wrong.empty()) return wrong;
  }
  const auto after = open_descriptors();
  return before == after ? "" : std::to_string(after - before) + " descriptors more than before";
}

TEST_CASE("processes become ranks, whose collectives work, and leave nothing behind") {
  for (const std::size_t ranks : {1, 2, 5, 16}) {
    INFO(ranks, " ranks");
    for (const std::string& wrong : on_processes(ranks, join_use_and_leave)) CHECK(wrong == "");
  }
}

TEST_CASE("twice in the same processes") {
  const auto twice = [](bootstrap& with) {
    return join_use_and_leave(with) + join_use_and_leave(with);
  };
  for (const std::string& wrong : on_processes(3, twice)) CHECK(wrong == "");
}

TEST_CASE("what was measured is as the system is, and the same for all") {
  const bool foreign_allowed = shm::measure(shm::ranks_are::processes).foreign_allowed;
  const auto results = on_processes(4, [](bootstrap& with) {
    const shm::job made = shm::make_job(with);
    const machine& seen = made.machine();
    std::vector<machine> all(with.size());
    with.allgather(std::as_bytes(std::span(&seen, 1)), std::as_writable_bytes(std::span(all)));
    for (const machine& each : all) {
      if (each.in_cache.foreign != seen.in_cache.foreign) return std::string("they differ");
    }
    if (seen.processors != shm::allowed_cpus().size()) return std::string("wrong processors");
    if (seen.foreign_allowed && seen.in_cache.staged <= 0) return std::string("nothing measured");
    return std::string(seen.foreign_allowed ? "allowed" : "not allowed");
  });
  for (const std::string& each : results) {
    CHECK(each == (foreign_allowed ? "allowed" : "not allowed"));
  }
}

TEST_CASE("where ranks are bound is seen") {
  const std::vector<int> processors = shm::allowed_cpus();
  const std::size_t used = std::min<std::size_t>(2, processors.size());
  const auto results = on_processes(4, [&](bootstrap& with) {
    bind_to(processors[with.rank() % used]);
    const shm::job made = shm::make_job(with);
    if (made.machine().processors != used) return std::string("wrong number of processors");
    const auto& places = made.places();
    if (places[0] != places[2] || places[1] != places[3]) return std::string("wrong places");
    if (places[0].core == place::unknown) return std::string("unknown core");
    return std::to_string(places[0].core) + " " + std::to_string(places[1].core);
  });
  const bool apart = used == 2 && shm::probe_cpus()->second == processors[1];
  for (const std::string& each : results) {
    CHECK(each == results[0]);
    if (!apart) continue;
    CHECK(each == std::to_string(processors[0]) + " " + std::to_string(processors[1]));
  }
}

/// What all ranks are told when rank `wrong` spoils it.
/// \param spoil what that rank does instead of `make_job`
void check_refused(std::size_t ranks, std::size_t wrong, std::string_view told,
                   const std::function<void(bootstrap&)>& spoil) {
  const auto results = on_processes(ranks, [&](bootstrap& with) {
    const auto before = open_descriptors();
    const auto start = std::chrono::steady_clock::now();
    const auto why = failure_of([&] {
      if (with.rank() == wrong) return spoil(with);
      (void)shm::make_job(with, {.patience = milliseconds(1000)});
    });
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(10))
      return std::string("late");
    if (open_descriptors() != before && with.rank() != wrong) return std::string("descriptors");
    if (!why) return std::string("no error");
    if (why->code() != errc::bootstrap) return std::string("another code");
    return std::to_string(why->rank()) + " " + why->text();
  });
  for (const std::string& each : results) {
    INFO(each);
    CHECK(each == results[0]);
    CHECK(each.starts_with(std::to_string(wrong) + " "));
    CHECK(each.find("rank " + std::to_string(wrong) + ": ") != std::string::npos);
    CHECK(each.find(told) != std::string::npos);
  }
}

void make_job_soon(bootstrap& with) { (void)shm::make_job(with, {.patience = milliseconds(1000)}); }

/// Makes a job, but says what `change(handshake&)` makes of what it says of itself.
template <class Change>
auto says(Change change) {
  return [change](bootstrap& with) {
    tampered liar(with,
                  [change](std::span<std::byte> said) {
                    change(*reinterpret_cast<shm::handshake*>(said.data()));
                  },
                  {});
    make_job_soon(liar);
  };
}

/// Makes a job, but hears what `change(handshake*)` makes of what all say of themselves.
template <class Change>
auto hears(Change change) {
  return [change](bootstrap& with) {
    tampered misled(with, {}, [change](std::span<std::byte> heard) {
      auto* const ranks = reinterpret_cast<shm::handshake*>(heard.data());
      change(ranks);
    });
    make_job_soon(misled);
  };
}

TEST_CASE("a rank that cannot find the others' socket") {
  check_refused(5, 2, "which says: rank 0: does not listen", hears([](auto& ranks) {
                  ranks[0].listens_as = fixed_text<40>("muster-elsewhere");
                }));
}

TEST_CASE("a rank that does not come in time") {
  check_refused(5, 3, "did not connect to rank 0 within 1000 ms",
                hears([](auto&) { std::this_thread::sleep_for(milliseconds(2000)); }));
}

TEST_CASE("a rank that never comes") {
  check_refused(3, 1, "did not connect to rank 0 within 1000 ms",
                hears([](auto& ranks) { ranks[0].listens_as = {}; }));
}

TEST_CASE("a rank that is not the process which it says it is") {
  const auto says_parent = says([](auto& mine) { mine.process = ::getppid(); });
  check_refused(3, 1, "did not connect", says_parent);
  check_refused(3, 0, "another process listens", says_parent);
}

TEST_CASE("a rank of another version, machine, user or namespace") {
  check_refused(3, 1, "another version", says([](auto& mine) { ++mine.version; }));
  check_refused(3, 2, "another machine", says([](auto& mine) { mine.machine = {}; }));
  check_refused(3, 1, "user 4711's", says([](auto& mine) { mine.user = 4711; }));
  check_refused(3, 2, "another PID namespace", says([](auto& mine) { ++mine.processes; }));
  check_refused(3, 1, "another network namespace", says([](auto& mine) { ++mine.network; }));
}

TEST_CASE("two ranks that are one process") {
  check_refused(3, 2, "the same process as rank 0",
                hears([](auto& ranks) { ranks[2].process = ranks[0].process; }));
}

// (Sanitizers need some of their own.)
TEST_CASE("a rank that may not open so many descriptors" * doctest::skip(sanitized)) {
  for (const std::size_t wrong : {0, 4}) {
    const auto told = wrong == 0 ? "Too many open files" : "so many descriptors open";
    check_refused(5, wrong, told, [](bootstrap& with) {
      const auto few = static_cast<rlim_t>(open_descriptors() + 3);
      const rlimit limit{few, few};
      ::setrlimit(RLIMIT_NOFILE, &limit);
      make_job_soon(with);
    });
  }
}

TEST_CASE("a rank that has no room for the memory" * doctest::skip(sanitized)) {
  for (const std::size_t wrong : {0, 2}) {
    check_refused(3, wrong, "bytes of shared memory", [](bootstrap& with) {
      const rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
      ::setrlimit(RLIMIT_AS, &limit);
      make_job_soon(with);
    });
  }
}

TEST_CASE("a text that is too long is cut, and the rest comes to all ranks") {
  const std::string value(600, 'x');
  const std::string text = "MUSTER_LINK_MEMORY is '" + value + "'; expected a number of bytes";
  const auto results = on_processes(3, [&](bootstrap& with) {
    if (with.rank() == 0) ::setenv("MUSTER_LINK_MEMORY", value.c_str(), 1);
    const auto why = failure_of([&] { make_job_soon(with); });
    return why ? why->text() : "no error";
  });
  for (const std::string& each : results) {
    CHECK(each == "bootstrap a job: rank 0: " + text.substr(0, 503));
  }
}

/// Connects to all sockets of jobs that are being made. False: there were none.
bool knock_everywhere() {
  std::ifstream list("/proc/net/unix");
  bool knocked = false;
  for (std::string line; std::getline(list, line);) {
    const std::size_t at = line.find("@muster-");
    if (at == std::string::npos) continue;
    sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
    const std::size_t length = line.copy(name.sun_path + 1, sizeof name.sun_path - 1, at + 1);
    const int stranger = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    if (::connect(stranger, reinterpret_cast<const sockaddr*>(&name), bytes) == 0) knocked = true;
    ::close(stranger);
  }
  return knocked;
}

TEST_CASE("strangers are not let in") {
  const auto results = on_processes(3, [](bootstrap& with) {
    if (with.rank() != 1) return join_use_and_leave(with);
    int status = -1;
    tampered beset(with, {}, [&status](std::span<std::byte>) {
      const pid_t stranger = ::fork();
      if (stranger == 0) ::_exit(knock_everywhere() ? 0 : 1);
      ::waitpid(stranger, &status, 0);
    });
    const std::string wrong = join_use_and_leave(beset);
    return status != 0 ? std::string("nobody came") : wrong;
  });
  for (const std::string& wrong : results) CHECK(wrong == "");
}

task<> meet(team& all) { co_await barrier(all); }

TEST_CASE("a rank that cannot begin does not keep the others waiting") {
  const auto results = on_processes(3, [](bootstrap& with) {
    if (with.rank() == 1) ::setenv("MUSTER_TABLE", "/nowhere", 1);
    const auto why = failure_of([&] {
      world all(with);
      all.run(meet(all.team()));
    });
    return why ? why->text() : "no error";
  });
  CHECK(results[1].find("/nowhere") != std::string::npos);
  for (const std::size_t other : {0, 2}) {
    CHECK(results[other].find("rank 1") != std::string::npos);
    CHECK(results[other].find("/nowhere") != std::string::npos);
  }
}

/// What it is told of rank 1, whose process ends; then how many go on.
task<std::string> outlive_rank_1(team& all, int signal) {
  co_await barrier(all);
  if (all.rank() == 1) signal != 0 ? (void)::raise(signal) : ::_exit(0);
  std::string told = "nothing";
  try {
    for (;;) co_await barrier(all);
  } catch (const error& why) {
    if (why.code() == errc::rank_died && why.rank() == 1) told = why.text();
  }
  const auto rest = co_await shrink(all);
  const int left = co_await allreduce(*rest, 1, sum);
  co_return std::to_string(left) + " go on: " + told;
}

TEST_CASE("a rank whose process ends is missed by the others, who go on") {
  for (const int signal : {SIGKILL, 0}) {
    const auto results = on_processes(4, [signal](bootstrap& with) {
      world all(with);
      return all.run(outlive_rank_1(all.team(), signal));
    });
    for (const std::size_t other : {0, 2, 3}) {
      INFO(results[other]);
      CHECK(results[other].starts_with("3 go on: "));
      CHECK(results[other].find("rank 1 (process ") != std::string::npos);
      CHECK(results[other].find(") ended without leaving the job") != std::string::npos);
    }
  }
}

TEST_CASE("a world that never sleeps, one that naps, and one that sleeps") {
  const auto sleeps_of_rank_1 = [](idling how) {
    const auto results = on_processes(2, [&](bootstrap& with) {
      world all(with, {.when_idle = how});
      if (with.rank() == 0) std::this_thread::sleep_for(milliseconds(100));
      all.run(meet(all.team()));
      return std::to_string(all.engine().counted().sleeps);
    });
    return std::stoi(results[1]);
  };
  CHECK(sleeps_of_rank_1(idling::looks_on) == 0);
  CHECK(sleeps_of_rank_1(idling::naps) > 10);  // of a quarter of a millisecond at most
  CHECK(sleeps_of_rank_1(idling::sleeps) > 0);
}

}  // namespace
}  // namespace muster::testing
