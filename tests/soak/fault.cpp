#include "tests/soak/fault.hpp"

#include <algorithm>
#include <string_view>

#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

constexpr std::string_view names[] = {"is killed",
                                      "exits",
                                      "runs into a limit of memory",
                                      "is stopped for good",
                                      "ends with an exception",
                                      "leaves",
                                      "is stopped for a while",
                                      "has no descriptors",
                                      "may not copy from others",
                                      "revokes the team",
                                      "sets a deadline",
                                      "has no memory",
                                      "has no network for a while",
                                      "cannot send for a while",
                                      "loses a connection",
                                      "loses its half of a connection",
                                      "loses its host",
                                      "has a clock that jumps"};

/// What others notice by silence. They have to have met before, and do not wait for long.
bool shows_by_silence(fault::kind what) {
  return what == fault::kind::host_lost || what == fault::kind::stop_for_good;
}

bool ends_connection(fault::kind what) {
  return what == fault::kind::reset || what == fault::kind::half_open;
}

/// What hosts alone have.
bool is_of_network(fault::kind what) {
  using enum fault::kind;
  return what == rail_down || what == mute || ends_connection(what) || what == host_lost;
}

bool has_time(fault::kind what) {
  using enum fault::kind;
  return what == kill || what == exit || what == memory_limit || what == stop ||
         what == stop_for_good || what == deadline || is_of_network(what);
}

void spread(random_stream& random, faulty_job& job) {
  switch (random.below(4)) {
    case 0:
      job.nodes = 0;
      job.kernel_copies_from = 0;  // a word of `muster run`
      break;
    case 1:
      job.nodes = 1 + random.below(job.ranks);
      break;
    case 2:
      job.hosts = 2 + random.below(std::min<std::size_t>(job.ranks, 4) - 1);
      break;
    default:
      break;
  }
}

fault make_fault(random_stream& random, const faulty_job& job) {
  fault made;
  made.what = static_cast<fault::kind>(random.below(std::size(names)));
  // Ranks of other machines need descriptors to be reached at all.
  if (made.what == fault::kind::no_descriptors && job.hosts != 0) made.what = fault::kind::revoke;
  if (is_of_network(made.what) && job.hosts == 0) made.what = fault::kind::kill;
  made.rank = random.below(job.ranks);
  made.round = random.below(job.rounds);
  if (shows_by_silence(made.what)) made.round = std::max<std::size_t>(made.round, 1);
  made.after = std::chrono::microseconds(random.below(random.one_in(4) ? 50'000 : 2'000));
  made.allocation = 1 + random.below(random.one_in(2) ? 50 : 2000);
  return made;
}

/// Whether one more can happen. What shows by silence happens alone: those that are left do not
/// put up with others' silence for long. A connection ends where no other network fault may have
/// its pair's second one. With a rank what it has begun with its network may end, and leave
/// that as it is.
bool fits(const fault& more, const faulty_job& job) {
  using enum fault::kind;
  const auto is_anywhere = [&](auto what) {
    return std::ranges::any_of(job.faults, [&](const fault& each) { return what(each.what); });
  };
  const auto is_also = [&](auto what) {
    return std::ranges::any_of(
        job.faults, [&](const fault& each) { return each.rank == more.rank && what(each.what); });
  };
  const auto silences = [](fault::kind what) {
    return may_end_rank(what) || is_of_network(what) || what == stop;
  };
  if (is_anywhere(shows_by_silence)) return !silences(more.what);
  if (shows_by_silence(more.what)) return !is_anywhere(silences);
  if (is_anywhere(ends_connection) && is_of_network(more.what)) return false;
  if (ends_connection(more.what) && is_anywhere(is_of_network)) return false;
  if (is_of_network(more.what)) return !is_also(may_end_rank);
  if (may_end_rank(more.what) && is_also(is_of_network)) return false;
  if (!ends_rank(more.what)) return true;
  std::size_t ended = 0;
  for (const fault& each : job.faults) {
    if (!ends_rank(each.what)) continue;
    if (each.rank == more.rank || ++ended + 1 == job.ranks) return false;
  }
  return true;
}

/// The team is broken in each round, and made anew of the same ranks: what stays behind shows.
void break_again_and_again(random_stream& random, faulty_job& job) {
  job.rounds = 40;
  job.faults.clear();
  for (std::size_t round = 0; round < job.rounds; ++round) {
    fault each = make_fault(random, job);
    constexpr fault::kind breaking[] = {fault::kind::revoke, fault::kind::deadline,
                                        fault::kind::no_memory};
    each.what = breaking[random.below(std::size(breaking))];
    each.round = round;
    job.faults.push_back(each);
  }
}

}  // namespace

bool ends_rank(fault::kind what) { return what <= fault::kind::leave; }

bool may_end_rank(fault::kind what) { return ends_rank(what) || what == fault::kind::no_memory; }

bool is_impatient(const faulty_job& job) {
  return std::ranges::any_of(job.faults,
                             [](const fault& each) { return shows_by_silence(each.what); });
}

bool has(const faulty_job& job, fault::kind what) {
  return std::ranges::any_of(job.faults, [&](const fault& each) { return each.what == what; });
}

bool breaks_team(fault::kind what) {
  return what == fault::kind::revoke || what == fault::kind::deadline ||
         what == fault::kind::no_memory;
}

faulty_job make_faulty_job(std::uint64_t seed) {
  random_stream random(seed);
  faulty_job job;
  job.seed = seed;
  job.ranks = 2 + random.below(8);
  job.rounds = 3 + random.below(20);
  if (random.one_in(2)) job.kernel_copies_from = 4096;
  spread(random, job);
  for (std::size_t left = 1 + random.below(6); left != 0; --left) {
    const fault more = make_fault(random, job);
    if (fits(more, job)) job.faults.push_back(more);
  }
  job.without_io_uring = random.one_in(4);
  job.full_shm = random.one_in(4);
  if (random.one_in(8)) break_again_and_again(random, job);
  return job;
}

faulty_round make_round(const faulty_job& of, std::size_t ranks, std::size_t generation,
                        std::size_t index) {
  random_stream random(derive(derive(of.seed, generation), index));
  faulty_round round;
  const std::size_t largest = random.one_in(3) ? 30'000 : 500;
  round.calls = random_calls(random.next(), ranks, 1 + random.below(40), largest);
  round.how = random_conduct(random);
  round.makes_team = std::ranges::any_of(of.faults, [&](const fault& each) {
    return each.what == fault::kind::no_descriptors && each.round == index;
  });
  return round;
}

std::string describe(const faulty_job& job) {
  std::string text =
      "job " + std::to_string(job.seed) + ": " + std::to_string(job.ranks) + " ranks on " +
      (job.hosts != 0 ? std::to_string(job.hosts) + " made hosts"
                      : std::to_string(std::max<std::size_t>(job.nodes, 1)) + " nodes") +
      (job.nodes == 0 ? " by a rendezvous" : "") + ", " + std::to_string(job.rounds) + " rounds";
  if (job.kernel_copies_from != 0) {
    text += ", kernel copies from " + std::to_string(job.kernel_copies_from);
  }
  if (job.without_io_uring) text += ", without io_uring";
  if (job.full_shm) text += ", without room in /dev/shm";
  for (const fault& each : job.faults) {
    text += "; rank " + std::to_string(each.rank) + " " +
            std::string(names[static_cast<std::size_t>(each.what)]) + " in round " +
            std::to_string(each.round);
    if (has_time(each.what)) {
      text += " after " + std::to_string(each.after.count()) + " us";
    }
    if (each.what == fault::kind::no_memory) {
      text += " for allocation " + std::to_string(each.allocation);
    }
  }
  return text;
}

std::string how_to_replay(const faulty_job& job) {
  return "replay: tools/test --soak-replay " + std::to_string(job.seed) + " --faults";
}

}  // namespace muster::testing
