#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <muster/call/arguments.hpp>
#include <muster/progress/future.hpp>
#include <muster/run/team.hpp>

#include "tools/mpi/barrier_exit.hpp"
#include "tools/mpi/cached_call.hpp"
#include "tools/mpi/call.hpp"
#include "tools/mpi/deferred.hpp"
#include "tools/mpi/driver.hpp"
#include "tools/mpi/exchange.hpp"
#include "tools/mpi/handle_cache.hpp"
#include "tools/mpi/node.hpp"

namespace muster::mpi {

/// A communicator of the program, and the team that follows it. The team is made with the first
/// collective: its ranks tell each other where its memory is, in an `exchange` that need not be
/// waited for.
class communicator {
public:
  /// \param together connects the ranks of the node, in their order
  communicator(MPI_Comm of, MPI_Comm together, node& among, driver& by, post_office& through);
  /// One on which all calls are left to the MPI.
  communicator(MPI_Comm of, node& among, driver& by, const char* left_because)
      : handle_(of), node_(among), driver_(by), left_because_(left_because) {}
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  /// Why it is left to the MPI, the same on all its ranks; null where it is not.
  const char* reason_to_leave() const noexcept { return left_because_; }
  /// Why on this rank alone nothing can be carried out on it; empty where it can.
  const std::string& defect() const noexcept { return defect_; }
  bool is_made() const noexcept { return team_ != nullptr; }
  /// From the same of their calls on, on all its ranks: each that can make it has made it.
  bool is_made_on_all() const noexcept { return is_made_on_all_; }
  /// At a call that waits until it is.
  void note_made_on_all() noexcept { is_made_on_all_ = is_made(); }
  /// Whether `advance` has something to look at; perhaps it is made, and only the exchange has not
  /// ended.
  bool in_the_making() const noexcept { return exchange_.has_value(); }
  /// Looks whether the others have told, if it is in the making; true if it is no more.
  bool advance();
  /// The same without calling the MPI: true if operations can be started, or never will be.
  bool advance_without_mpi();

  /// This rank's neighbors, of which the MPI is asked once; null where it has no topology, the
  /// same on all its ranks.
  const neighborhood* neighbors();
  /// Those that a call has; null for one that goes to all ranks.
  const neighborhood* neighbors_of(routine which) {
    return muster::has_neighbors(collective_of(which)) ? neighbors() : nullptr;
  }
  /// How many blocks, counts or displacements a rank gives for what it sends, or receives.
  std::size_t blocks_sent(routine which) {
    const neighborhood* const with = neighbors_of(which);
    return with == nullptr ? size() : with->destinations.size();
  }
  std::size_t blocks_received(routine which) {
    const neighborhood* const with = neighbors_of(which);
    return with == nullptr ? size() : with->sources.size();
  }

  muster::team& team() const noexcept { return *team_; }
  std::size_t rank() const noexcept { return rank_; }
  std::size_t size() const noexcept { return members_.size(); }
  /// MPI_COMM_NULL once the program has freed it.
  MPI_Comm handle() const noexcept { return handle_; }
  void forget_handle() noexcept { handle_ = MPI_COMM_NULL; }
  /// The team goes. Requests that nobody has waited for may keep the rest beyond the driver's life.
  void let_go();

  barrier_exit& leaving_barriers() noexcept { return leaving_barriers_; }

  /// The last blocking call of its kind, if it was written like this one; or null.
  [[gnu::always_inline]] cached_call* recall(const call& like) noexcept {
    auto& last = last_[static_cast<std::size_t>(like.what)];
    return last && last->is_like(like) ? &*last : nullptr;
  }
  void remember(const call& written, const arguments& meant) {
    last_[static_cast<std::size_t>(written.what)].emplace(written, meant, rank_);
  }
  /// A nonblocking call that was written like this one and has ended, to be given back when it has
  /// again; or null.
  std::unique_ptr<cached_call> take(const call& like) noexcept;
  void keep(std::unique_ptr<cached_call> ended);
  /// None is remembered any more; none is under way.
  void forget_calls() noexcept {
    last_ = {};
    idle_.clear();
  }

private:
  /// What becomes of it.
  struct outcome {
    std::unique_ptr<muster::team> own = {};
    const char* left_because = nullptr;
    std::string defect = {};
  };
  bool find_members(MPI_Comm together);
  std::size_t turn() const noexcept;
  void offer_memory(post_office& through);
  /// On the thread that drives the engine.
  task<outcome> make();
  outcome derive_team();
  void settle();
  bool is_settled() const noexcept {
    return team_ != nullptr || left_because_ != nullptr || !defect_.empty();
  }

  void find_neighbors();
  void find_on_grid();
  void find_in_graph();
  void find_in_distributed_graph();

  MPI_Comm handle_;
  node& node_;
  driver& driver_;
  const char* left_because_ = nullptr;
  std::string defect_;
  std::size_t rank_ = 0;
  std::vector<std::size_t> members_;  // ranks of the node, in the communicator's order
  offer mine_;
  std::vector<offer> all_;
  std::optional<exchange> exchange_;  // until the MPI is done with it
  future<outcome> making_;
  std::unique_ptr<muster::team> own_;
  muster::team* team_ = nullptr;
  bool is_made_on_all_ = false;
  bool knows_neighbors_ = false;
  bool has_topology_ = false;
  std::vector<std::size_t> sources_;
  std::vector<std::size_t> destinations_;
  neighborhood neighbors_;  // of these
  barrier_exit leaving_barriers_;
  std::array<std::optional<cached_call>, routines> last_;
  std::vector<std::unique_ptr<cached_call>> idle_;
};

/// Those of a process. Each goes when the program frees it, or when the last operation on it ends.
class communicators {
  using entry = std::shared_ptr<communicator>;

public:
  /// \param hook what can be done in the MPI's progress
  communicators(MPI_Comm together, node& among, driver& by, progress_hook hook);
  /// The program makes no more calls.
  ~communicators();
  communicators(const communicators&) = delete;
  communicators& operator=(const communicators&) = delete;

  const entry& find(MPI_Comm of) {
    if (deferred_.any()) [[unlikely]]
      reap();
    const entry* const last = last_.find(of);
    return last != nullptr ? *last : find_again(of);
  }

  /// The same if it is among the last and nothing else is to be done first; or null.
  const entry* find_at_once(MPI_Comm of) const noexcept {
    if (deferred_.any()) [[unlikely]]
      return nullptr;
    return last_.find(of);
  }

  /// The program frees one, on this thread and from now until `end_freeing`: calls on it, which
  /// come from callbacks of its attributes, are left to the MPI. What was known of it may be gone
  /// already, and its handle may soon be another's.
  void begin_freeing(MPI_Comm one);
  void end_freeing();

  /// One was made with a graph, by all its ranks. Where some have no neighbors, all is left to the
  /// MPI. Programs leave calls to neighbors out there. The MPI's calls among the others work. But
  /// its ranks then disagree about tags, so that not even a team could be founded.
  void note_graph(MPI_Comm one) const;

  /// Lets go of what the program has freed, but for those whose exchange is under way.
  void reap();
  /// Whether there are exchanges that have not been seen to end.
  bool has_unmade() const noexcept { return !unmade_.empty(); }

private:
  struct freed {
    std::thread::id by;
    MPI_Comm handle;
  };

  const entry* find_freed(MPI_Comm of) const noexcept;
  entry make(MPI_Comm of);
  const entry& find_again(MPI_Comm of);
  static int forget(MPI_Comm of, int keyval, void* value, void* self);

  MPI_Comm together_;
  node& node_;
  driver& driver_;
  int keyval_ = MPI_KEYVAL_INVALID;
  int has_lone_ranks_ = MPI_KEYVAL_INVALID;  // copied with the graph
  post_office post_office_;
  std::unordered_map<MPI_Comm, entry> all_;
  deferred<MPI_Comm> deferred_;
  std::vector<freed> freed_;  // just now
  entry being_freed_;         // stands for them
  std::vector<entry> unmade_;
  std::vector<std::weak_ptr<communicator>> still_held_;  // by requests, of those that are gone
  handle_cache<MPI_Comm, entry> last_;
};

}  // namespace muster::mpi
