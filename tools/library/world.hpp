#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>
#include <muster/run/team.hpp>
#include <muster/team/bootstrap.hpp>

namespace muster {

/// The algorithms that come with Muster, the preferred ones first. For those who add their own: see
/// docs/own-algorithm.md.
catalog default_algorithms() noexcept;

/// Where an engine's thread runs.
enum class thread_place {
  any,            ///< where the process may
  spare,          ///< on a core of its own that no rank of the machine is bound to; else as `any`
  spare_or_none,  ///< the same; else there is none, and callers drive
  numa,           ///< on the cores that share memory with its rank's
};

struct world_options {
  muster::progress progress = muster::progress::caller;
  /// What collectives choose from, the same on every rank; outlives the world.
  catalog algorithms = default_algorithms();
  /// `progress::thread` only: the processor for the engine's thread; negative: as `thread_on` says.
  int processor = -1;
  thread_place thread_on = thread_place::any;
  /// `progress::caller` only: what a rank does that waits long. The same on all ranks.
  idling when_idle = idling::sleeps;
  /// Whether a rank of this machine that is stopped, as by `SIGSTOP`, is waited for as long as it
  /// takes, unless MUSTER_TIMEOUT is set; by default only for its 10 s.
  bool waits_for_stopped = false;
  /// Where this process was started again, it rejoins its job: its program knows what that means.
  bool rejoins = false;
};

/// The team of all ranks of the job that this process was started in, with the engine that drives
/// it: a process that `muster run` started joins its job; so does one whose environment says where
/// the ranks of a job meet, on one machine or several (docs/environment.md); any other is a team of
/// one.
///
/// One a process, made and destroyed by one thread. Destroying it stops what is still running and
/// tells the other ranks that this one has left: they can finish what needs nothing more of it.
/// A process that a rank forks is no rank. There the world and what was made with it can be
/// destroyed, which changes nothing for the ranks, and nothing else.
///
/// MUSTER_PROGRESS says who drives the engine instead of the options, but for `progress::external`:
/// with it a program's operations go on while it computes, and nothing in it need be changed.
class world {
public:
  /// \throws error `errc::bootstrap` where the job cannot be joined, or this process has to
  /// `rejoin` it.
  explicit world(world_options options = {});
  /// Instead, the team of the processes that `with` connects, which others than Muster started:
  /// rank for rank, all on one machine. Collective; `with` is not used afterwards.
  /// \throws error `errc::bootstrap` on all ranks where they cannot become one job.
  explicit world(bootstrap& with, world_options options = {});
  /// In a process that `muster run --respawn` has started in the place of a rank that failed: its
  /// world, whose team is what the other ranks get from `grow`; waits until all have called that.
  /// Null in a process of the job's first ranks, and where ranks are not started again.
  /// \throws error `errc::bootstrap`, `errc::rank_left`, as `grow`
  static std::unique_ptr<world> rejoin(world_options options = {});
  /// Whether this process is one that has to, and has not yet.
  static bool is_to_rejoin() noexcept;
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  muster::team& team() noexcept;
  muster::engine& engine() noexcept;

  /// Starts `work` and drives it to its end (or waits for the engine's thread to); its result.
  template <class T>
  T run(task<T> work) {
    return start(engine(), std::move(work)).wait();
  }

private:
  struct parts;

  std::unique_ptr<parts> parts_;
};

/// How ranks of different made-up nodes reach each other: by memory that they share, or by TCP
/// over the loopback interface, as those of different machines do.
enum class between_nodes { memory, tcp };

struct thread_options {
  /// The made-up node of each rank, so that code for several nodes can be tried on one machine;
  /// empty: all on one.
  std::vector<std::size_t> node_of = {};
  between_nodes network = between_nodes::memory;
  /// By TCP: how many connections each pair of ranks of two nodes has, 1 to 16.
  std::size_t connections = 1;
  /// Whether ranks may read each other's buffers where they are, as threads can; without it they
  /// behave like processes.
  bool share_address_space = true;
  /// Without sharing: blocks of this many bytes and more are copied by the kernel
  /// (`process_vm_readv`); 0: as measured.
  std::size_t foreign_from = 0;
  muster::progress progress = muster::progress::caller;
  catalog algorithms = default_algorithms();  ///< what collectives choose from
};

/// Runs `rank(team)` on `ranks` threads of this process, each with a rank and an engine of its own,
/// and returns when all have ended.
///
/// A rank that ends with an exception breaks the team for the others; the first such exception is
/// thrown.
void run_threads(std::size_t ranks, const std::function<void(team&)>& rank,
                 const thread_options& options = {});

}  // namespace muster
