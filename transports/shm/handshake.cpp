#include "transports/shm/handshake.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include <muster/base/error.hpp>

#include "transports/shm/first_line.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/trip.hpp"
#include "transports/shm/whereabouts.hpp"

namespace muster::shm {
namespace {

static_assert(sizeof(handshake) == 272, "of all versions");

std::uint64_t namespace_number(const char* file) {
  struct stat status{};
  return ::stat(file, &status) == 0 ? status.st_ino : 0;
}

/// Why a rank cannot be in a job with rank 0; empty: it can, for all that they say.
std::string hindrance(const handshake& rank, const handshake& first) {
  if (rank.version != first.version) return "this is another version of Muster than rank 0's";
  if (rank.machine.view() != first.machine.view()) return "this is another machine than rank 0's";
  if (rank.user != first.user) {
    return "this process is user " + std::to_string(rank.user) + "'s, rank 0's user " +
           std::to_string(first.user) + "'s";
  }
  if (rank.processes != first.processes) return "this is another PID namespace than rank 0's";
  if (rank.network != first.network) return "this is another network namespace than rank 0's";
  return {};
}

}  // namespace

handshake describe_this_process() {
  handshake mine;
  mine.version = job::version();
  mine.process = ::getpid();
  mine.user = ::geteuid();
  mine.network = namespace_number("/proc/self/ns/net");
  mine.processes = namespace_number("/proc/self/ns/pid");
  mine.machine = std::string_view(first_line("/proc/sys/kernel/random/boot_id"));
  mine.where = common_place(allowed_cpus());
  ::sched_getaffinity(0, sizeof mine.allowed, &mine.allowed);
  return mine;
}

bool is(const ucred& process, const handshake& who) {
  return process.pid == who.process && process.uid == who.user;
}

std::uint32_t processors_of(std::span<const handshake> ranks) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const handshake& rank : ranks) CPU_OR(&all, &all, &rank.allowed);
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&all)));
}

bool can_share_memory(const handshake& one, const handshake& other) {
  return hindrance(one, other).empty();
}

void check_handshakes(std::span<const handshake> ranks) {
  std::map<std::int32_t, std::size_t> rank_of;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::string why = hindrance(ranks[rank], ranks[0]);
    if (!why.empty()) throw error(errc::bootstrap, why, rank);
    const auto [other, is_new] = rank_of.try_emplace(ranks[rank].process, rank);
    if (is_new) continue;
    throw error(errc::bootstrap,
                "this is the same process as rank " + std::to_string(other->second), rank);
  }
}

}  // namespace muster::shm
