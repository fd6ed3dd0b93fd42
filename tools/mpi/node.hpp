#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <muster/progress/engine.hpp>
#include <muster/run/team.hpp>
#include <muster/team/bootstrap.hpp>

#include "tools/mpi/cores.hpp"
#include "tools/mpi/settings.hpp"
#include "transports/mpi/messenger.hpp"
#include "transports/shm/handshake.hpp"

namespace muster::mpi {

/// What the shim stands on: the processes of this machine, or of all machines, as ranks of a job,
/// as one of them sees it.
class node {
public:
  virtual ~node() = default;
  /// Of all these ranks.
  virtual muster::team& team() noexcept = 0;
  virtual muster::engine& engine() noexcept = 0;
  /// Others could not make theirs: the end of this one does not wait for them.
  virtual void give_up() noexcept = 0;
};

/// What a process says of where it runs.
struct whereabouts {
  shm::handshake who;  ///< of no version: cannot share memory with others
  share_of_cores cores;
};
/// The calling process's.
whereabouts find_whereabouts();

/// The processes that can share memory with one of them.
struct neighbors_here {
  std::vector<std::size_t> ranks;  ///< ascending, itself among them
  bool yield_in_vain;              ///< see `yielding_is_in_vain`
};
neighbors_here find_neighbors(std::span<const whereabouts> all, std::size_t rank);

struct node_options {
  bool naps = false;  ///< ranks that wait sleep between looks
};

/// Makes one, together with the others whom `among` connects. Defined by whoever composes the
/// library out of an engine, algorithms and transports.
/// \throws error, perhaps on some of them alone
std::unique_ptr<node> join_node(bootstrap& among, const node_options& options);

/// Whose ranks are those of all processes.
using make_messenger = std::function<std::unique_ptr<messenger>()>;

/// The same of the processes of all machines.
/// \param all    connects all of them
/// \param near   connects those of this machine, in the same order
/// \param lowest of those in `all`
/// \param by     called when the ranks of each machine have come together
/// \throws error, perhaps on some of them alone
std::unique_ptr<node> join_machines(bootstrap& all, bootstrap& near, std::size_t lowest,
                                    const make_messenger& by, const node_options& options);

/// The same of processes that reach those of other machines without the MPI, which only brings
/// them together.
/// \param by `tcp` or `verbs`
std::unique_ptr<node> join_machines(bootstrap& all, std::size_t lowest, between_machines by,
                                    const node_options& options);

}  // namespace muster::mpi
