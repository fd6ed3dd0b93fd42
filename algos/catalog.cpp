#include "algos/catalog.hpp"

#include <array>

#include "algos/algorithms.hpp"

namespace muster::algos {

muster::catalog catalog() noexcept {
  static const std::array rows = {
      barrier_grouped,   barrier_flat,         barrier_srm,         bcast_grouped,
      bcast_flat,        bcast_flat_long,      bcast_srm,           reduce_grouped,
      reduce_flat,       reduce_root_combines, reduce_flat_long,    reduce_srm,
      allreduce_grouped, allreduce_flat,       allreduce_flat_long, allreduce_srm,
      allgather_grouped, allgather_flat,       allgather_flat_long, allgather_leader_ring,
      alltoall_flat,     alltoall_flat_long,   alltoall_pairwise,
  };
  return rows;
}

}  // namespace muster::algos
