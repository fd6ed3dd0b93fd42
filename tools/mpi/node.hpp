#pragma once

#include <memory>

#include <muster/progress/engine.hpp>
#include <muster/run/team.hpp>
#include <muster/team/bootstrap.hpp>

#include "tools/mpi/settings.hpp"
#include "transports/mpi/messenger.hpp"

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

struct node_options {
  bool may_nap = true;  ///< a wait of one thread holds up no other
};

/// Whether all processes could be ranks of one machine's job, by what they say of themselves.
bool share_a_machine(bootstrap& all);

/// Makes one, together with the others whom `among` connects. Defined by whoever composes the
/// library out of an engine, algorithms and transports.
/// \throws error, perhaps on some of them alone
std::unique_ptr<node> join_node(bootstrap& among, const node_options& options);

/// The same of the processes of all machines.
/// \param all  connects all of them
/// \param near connects those of this machine, in the same order
/// \param by   whose ranks are those of `all`
/// \throws error, perhaps on some of them alone
std::unique_ptr<node> join_machines(bootstrap& all, bootstrap& near, std::unique_ptr<messenger> by,
                                    const node_options& options);

/// The same of processes that reach those of other machines without the MPI, which only brings
/// them together.
/// \param by `tcp` or `verbs`
std::unique_ptr<node> join_machines(bootstrap& all, bootstrap& near, between_machines by,
                                    const node_options& options);

}  // namespace muster::mpi
