// One rank of the launcher's tests: does what its first argument says.

#include <muster/muster.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/harness/refuse_call.hpp"

namespace {

using muster::task;
using muster::team;

/// The others wait in an operation while rank 1 ends in its own way.
/// \param limit in seconds, until when they should know
task<> wait_while_one_ends(team& team, std::function<void()> end, double limit = 1) {
  co_await muster::barrier(team);
  if (team.rank() == 1) {
    // The others must have left the barrier behind.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    end();
  }
  std::vector<double> data(100000, 1.0);
  const auto start = std::chrono::steady_clock::now();
  try {
    co_await muster::allreduce(team, data, muster::sum);
  } catch (const muster::error& why) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    std::printf("rank %zu %s: %s (after %.2f s)\n", team.rank(),
                waited.count() < limit ? "soon" : "LATE", why.what(), waited.count());
  }
}

/// Rank 1 is to read the others' blocks, and may not: they stage them.
task<> read_what_is_forbidden(team& team) {
  co_await muster::barrier(team);
  if (team.rank() == 1 && !muster::testing::refuse_call(SYS_process_vm_readv))
    std::perror("seccomp");
  constexpr std::size_t block = 10000;
  std::vector<double> send(block * team.size(), static_cast<double>(team.rank()));
  std::vector<double> receive(send.size());
  co_await muster::alltoall(team, send, receive);
  for (std::size_t i = 0; i < receive.size(); ++i) {
    if (receive[i] != static_cast<double>(i / block)) co_return;
  }
  std::printf("rank %zu has received all\n", team.rank());
}

void say_where(team& team) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  const auto where = team.shape().place_of(team.rank());
  std::printf("rank %zu node %zu processors %d core %s\n", team.rank(),
              team.shape().node_of(team.rank()), CPU_COUNT(&set),
              where.core == muster::place::unknown ? "any" : "known");
}

/// The others cannot wait for it: whoever notices says so by its exit status.
void say_who_is_lost(muster::world& world, std::function<void()> end) {
  constexpr double limit = 4;
  world.run(wait_while_one_ends(world.team(), std::move(end), limit));
  std::fflush(stdout);
  ::_exit(4);
}

void sleep_long() { std::this_thread::sleep_for(std::chrono::seconds(100)); }

void cut_off_this_host() {
  // All interfaces are of this group unless somebody says otherwise.
  if (std::system("ip link set group default down") != 0) std::printf("cannot cut the links\n");
}

/// Of this process, to somebody elsewhere.
std::vector<int> connected_sockets() {
  std::vector<int> found;
  constexpr int most = 1024;
  for (int each = 0; each < most; ++each) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (::getpeername(each, reinterpret_cast<sockaddr*>(&peer), &length) != 0) continue;
    if (peer.ss_family == AF_INET || peer.ss_family == AF_INET6) found.push_back(each);
  }
  return found;
}

/// As a box in the network may do it.
void reset_connections() {
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  for (const int each : connected_sockets()) {
    if (::connect(each, &nobody, sizeof nobody) != 0) std::perror("a reset");
  }
}

/// This rank ends, and its system says nothing of that, as one that was started anew.
void be_forgotten() {
  constexpr int without_a_word = 1;
  for (const int each : connected_sockets()) {
    if (::setsockopt(each, IPPROTO_TCP, TCP_REPAIR, &without_a_word, sizeof without_a_word) != 0) {
      std::perror("TCP_REPAIR");
    }
  }
  ::raise(SIGKILL);
}

void say_why(const team& team, const muster::error& why) {
  std::printf("rank %zu: %s: %s\n", team.rank(), why.code().message().c_str(), why.what());
  std::fflush(stdout);
}

/// To and from rank 1, for a moment.
task<> send_and_listen(team& team) {
  int word = 0;
  co_await team.send(1, 0, std::span(&word, 1));
  try {
    co_await muster::with_timeout(std::chrono::milliseconds(50),
                                  team.receive(1, 0, std::span(&word, 1)));
  } catch (const muster::error& why) {
    if (why.code() != muster::errc::deadline_exceeded) throw;
  }
}

/// Rank 1 is forgotten. Rank 0 goes on sending to it, or only waits.
task<> outlive_the_forgotten(team& team, bool sends) {
  co_await muster::barrier(team);
  if (team.rank() == 1) {
    // Rank 0 must have left the barrier behind.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    be_forgotten();
  }
  int word = 0;
  try {
    while (sends) co_await send_and_listen(team);
    co_await team.receive(1, 0, std::span(&word, 1));
  } catch (const muster::error& why) {
    say_why(team, why);
  }
}

/// Rank 0 is cut off before it has talked with anybody.
task<> call_from_nowhere(team& team) {
  if (team.rank() == 1) sleep_long();
  cut_off_this_host();
  try {
    co_await muster::barrier(team);
  } catch (const muster::error& why) {
    say_why(team, why);
  }
}

/// Rank 1 is killed, and nobody of its machine is left to tell.
task<> keep_teams_without_it(team& all) {
  const auto copy = co_await muster::duplicate(all);
  const auto rest = co_await muster::split(all, all.rank() == 1 ? 1 : 0, 0);
  co_await muster::barrier(*copy);
  if (all.rank() == 1) {
    // The others must have left the barrier behind.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::raise(SIGKILL);
  }
  try {
    co_await muster::barrier(all);
  } catch (const muster::error& why) {
    say_why(all, why);
  }
  if (copy->failure() || rest->failure()) std::printf("rank %zu lost more\n", all.rank());
  co_await muster::barrier(*rest);
  try {
    co_await muster::barrier(*copy);
  } catch (const muster::error& why) {
    say_why(all, why);
  }
  const auto ranks = co_await muster::allreduce(*rest, 1, muster::sum);
  std::printf("rank %zu went on with %d\n", all.rank(), ranks);
}

/// Rank 1 computes, and says nothing meanwhile.
task<> wait_while_one_computes(team& team) {
  co_await muster::barrier(team);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (team.rank() == 1 && std::chrono::steady_clock::now() < end) {
  }
  co_await muster::barrier(team);
  std::printf("rank %zu went on\n", team.rank());
}

/// All exchange long and short blocks for some seconds, or until there is such a file, and look at
/// what they get.
task<> exchange_for_long(team& team, const char* file) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(6);
  const auto is_enough = [&] {
    return file == nullptr ? std::chrono::steady_clock::now() > end : ::access(file, F_OK) == 0;
  };
  unsigned wrong = 0;
  unsigned rounds = 0;
  for (std::uint8_t is_over = 0; is_over == 0; ++rounds) {
    const std::size_t block = rounds % 2 == 0 ? 150'000 : 100;
    std::vector<unsigned> sent(block * team.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i] = static_cast<unsigned>(1000 * team.rank() + i / block) + rounds;
    }
    std::vector<unsigned> got(sent.size());
    co_await muster::alltoall(team, sent, got);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] != static_cast<unsigned>(1000 * (i / block) + team.rank()) + rounds) ++wrong;
    }
    is_over = team.rank() == 0 && is_enough() ? 1 : 0;
    co_await muster::bcast(team, std::span(&is_over, 1), 0);
  }
  std::printf("rank %zu: %u wrong\n", team.rank(), wrong);
}

double processor_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Rank 1 waits for rank 0, which sleeps.
task<> wait_idly(team& team) {
  co_await muster::barrier(team);
  const double before = processor_seconds();
  if (team.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(3));
  co_await muster::barrier(team);
  const double used = processor_seconds() - before;
  std::printf("rank %zu %s: %.3f s of processor time\n", team.rank(), used < 0.1 ? "idle" : "BUSY",
              used);
}

/// Rank 1 has opened so much that nothing is left for connections.
void send_without_descriptors(muster::world& world) {
  if (world.team().rank() == 1) {
    while (::dup(0) >= 0) continue;
  }
  world.run(muster::barrier(world.team()));
}

/// How much links may take, of all that were asked for.
void say_link_memory(team& team) {
  std::printf("rank %zu takes %zu bytes for links\n", team.rank(), team.memory_bytes().links);
}

void read_input(team& team) {
  std::string line;
  while (std::getline(std::cin, line)) std::printf("rank %zu read %s\n", team.rank(), line.c_str());
}

void wait_for_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  std::printf("ready\n");
  std::fflush(stdout);
  int got = 0;
  ::sigwait(&set, &got);
  std::printf("signal %d\n", got);
}

void leave_orphan() {
  if (::fork() == 0) {
    ::setsid();
    sleep_long();
    ::_exit(0);
  }
}

/// Has a child process destroy what it inherited, by `exit` and by returning; the ranks go on.
int fork_and_go_on(muster::progress by) {
  muster::world world({.progress = by});
  team& all = world.team();
  std::unique_ptr<team> made;
  if (by == muster::progress::caller) made = world.run(muster::duplicate(all));
  team& on = made ? *made : all;
  std::vector<double> data(100, 1.0);
  for (const bool returns : {false, true, false, true}) {
    world.run(muster::allreduce(on, data, muster::sum));
    const pid_t child = ::fork();
    if (child == 0) {
      if (returns) return 9;
      std::exit(9);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) {
      std::printf("rank %zu: its child has status %d\n", all.rank(), status);
    }
  }
  world.run(muster::allreduce(on, data, muster::sum));
  std::printf("rank %zu went on to %g\n", all.rank(), data.front());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "signal") {
    wait_for_signal();
    return 0;
  }
  if (what == "forks") return fork_and_go_on(muster::progress::caller);
  if (what == "forks beside a thread") return fork_and_go_on(muster::progress::thread);
  muster::world world;
  team& team = world.team();
  const auto end_with = [&](std::function<void()> end) {
    world.run(wait_while_one_ends(team, std::move(end)));
  };
  const std::map<std::string, std::function<void()>> does = {
      {"killed", [&] { end_with([] { ::raise(SIGKILL); }); }},
      {"exits", [&] { end_with([] { ::_exit(7); }); }},
      {"leaves", [&] { end_with([] { ::_exit(0); }); }},
      {"stops", [&] { say_who_is_lost(world, [] { ::raise(SIGSTOP); }); }},
      {"killed far away", [&] { say_who_is_lost(world, [] { ::raise(SIGKILL); }); }},
      {"reset", [&] { say_who_is_lost(world, reset_connections); }},
      {"forgotten by who sends", [&] { world.run(outlive_the_forgotten(team, true)); }},
      {"forgotten by who waits", [&] { world.run(outlive_the_forgotten(team, false)); }},
      {"nowhere",
       [&] {
         world.run(call_from_nowhere(team));
         ::_exit(4);
       }},
      {"leaves other teams whole", [&] { world.run(keep_teams_without_it(team)); }},
      {"cut off",
       [&] {
         say_who_is_lost(world, [] {
           cut_off_this_host();
           sleep_long();
         });
       }},
      {"exchanges", [&] { world.run(exchange_for_long(team, argc > 2 ? argv[2] : nullptr)); }},
      {"computes", [&] { world.run(wait_while_one_computes(team)); }},
      {"idles", [&] { world.run(wait_idly(team)); }},
      {"forbidden", [&] { world.run(read_what_is_forbidden(team)); }},
      {"where", [&] { say_where(team); }},
      {"short of descriptors", [&] { send_without_descriptors(world); }},
      {"links", [&] { say_link_memory(team); }},
      {"reads", [&] { read_input(team); }},
      {"sleeps", [&] { sleep_long(); }},
      {"orphans", [&] { leave_orphan(); }},
  };
  does.at(what)();
  return 0;
}
