// The MPI shim, composed: Muster's default algorithms over shared memory.
#include <muster/muster.hpp>

#include "tools/mpi/cores.hpp"
#include "tools/mpi/node.hpp"

namespace muster::mpi {
namespace {

class joined_world final : public node {
public:
  joined_world(bootstrap& among, const world_options& options) : world_(among, options) {}
  muster::team& team() noexcept override { return world_.team(); }
  muster::engine& engine() noexcept override { return world_.engine(); }

private:
  world world_;
};

}  // namespace

std::unique_ptr<node> join_node(bootstrap& among, const node_options& options) {
  world_options how;
  // As an MPI waits: what it has under way needs looking after, too.
  const bool naps = options.may_nap && yielding_is_in_vain(among);
  how.when_idle = naps ? idling::naps : idling::looks_on;
  return std::make_unique<joined_world>(among, how);
}

}  // namespace muster::mpi
