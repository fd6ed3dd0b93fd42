#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/conformance/sweep.hpp"

/// Jobs in which something happens to ranks, wholly determined by a seed.
namespace muster::testing {

struct fault {
  enum class kind {
    kill,            ///< by SIGKILL, at any moment
    exit,            ///< the process exits, at any moment
    memory_limit,    ///< the rank runs into its control group's, at any moment
    stop_for_good,   ///< by SIGSTOP at any moment, until it is killed, long after others gave up
    exception,       ///< ends the rank's `world` between two rounds
    leave,           ///< the rank's `world` ends between two rounds
    stop,            ///< by SIGSTOP at any moment, and goes on by SIGCONT
    no_descriptors,  ///< none is left for a round
    refused_copies,  ///< the kernel copies nothing more from other processes
    revoke,          ///< the rank breaks the team
    deadline,        ///< of the rank's calls in a round
    no_memory,       ///< for one of the allocations of a round; ends the rank, or breaks the team
    rail_down,       ///< the made host's only one, at any moment, and up again
    mute,            ///< nothing that the made host sends arrives, for a while
    reset,           ///< one of the rank's connections, where those of a pair are two
    half_open,       ///< the same, of which the other side is not told
    host_lost,       ///< the made host has no power: its ranks are gone, and nobody says so
    clock_jump,      ///< the rank's wall clock, by a day
  };
  kind what = kind::kill;
  std::size_t rank = 0;
  std::size_t round = 0;
  /// From the round's beginning; of those that happen at any moment, and of deadlines.
  std::chrono::microseconds after{};
  std::size_t allocation = 0;  ///< that fails, of those of the round, from 1
};

/// Whether the rank is gone then, for sure.
bool ends_rank(fault::kind what);
/// The same, or perhaps.
bool may_end_rank(fault::kind what);
/// Whether the team is broken then, or may be, while all ranks are there.
bool breaks_team(fault::kind what);

struct faulty_job {
  std::uint64_t seed = 0;
  std::size_t ranks = 2;
  std::size_t nodes = 1;               ///< made up by `muster run`; 0: the ranks meet by themselves
  std::size_t hosts = 0;               ///< made of this machine; 0: none
  std::size_t kernel_copies_from = 0;  ///< as `muster run` takes it
  std::size_t rounds = 1;
  bool without_io_uring = false;  ///< the kernel refuses it
  bool full_shm = false;          ///< nothing more fits into /dev/shm
  std::vector<fault> faults;      ///< one of these ends a rank at most, and not all ranks
};

struct faulty_round {
  std::vector<spec> calls;
  conduct how;
  bool makes_team = false;  ///< of all ranks, beside these calls
};

bool has(const faulty_job& job, fault::kind what);
/// Whether ranks are to take silent ones for lost after 3 s.
bool is_impatient(const faulty_job& job);

faulty_job make_faulty_job(std::uint64_t seed);
/// \param ranks      of those that are left
/// \param generation how often they became fewer
faulty_round make_round(const faulty_job& of, std::size_t ranks, std::size_t generation,
                        std::size_t index);

std::string describe(const faulty_job& job);
std::string how_to_replay(const faulty_job& job);

}  // namespace muster::testing
