#include "algos/catalog.hpp"

#include <array>

#include "algos/algorithms.hpp"

namespace muster::algos {

muster::catalog catalog() noexcept {
  static const std::array rows = {
      barrier_grouped,
      barrier_flat,
      barrier_srm,
      bcast_grouped,
      bcast_flat,
      bcast_flat_long,
      bcast_srm,
      reduce_grouped,
      reduce_flat,
      reduce_root_combines,
      reduce_flat_long,
      reduce_srm,
      reduce_binomial,
      allreduce_grouped,
      allreduce_flat,
      allreduce_flat_long,
      allreduce_srm,
      allreduce_recursive_doubling,
      allgather_grouped,
      allgather_flat,
      allgather_flat_long,
      allgather_leader_ring,
      allgather_smp_direct,
      alltoall_flat,
      alltoall_flat_long,
      alltoall_pairwise,
      alltoall_ohio_v1,
      alltoall_ohio_v2,
      alltoall_ohio_v3,
      alltoall_staged_stream,
      alltoall_pap_shm_direct,
      scatter_flat,
      scatter_flat_long,
      scatter_binomial,
      gather_flat,
      gather_flat_long,
      gather_binomial,
      scatterv_flat_long,
      scatterv_linear,
      gatherv_flat_long,
      gatherv_linear,
      allgatherv_flat,
      allgatherv_flat_long,
      allgatherv_ring,
      alltoallv_flat_long,
      alltoallv_pairwise,
      reduce_scatter_block_flat,
      reduce_scatter_block_flat_long,
      reduce_scatter_block_pairwise,
      reduce_scatter_flat,
      reduce_scatter_flat_long,
      reduce_scatter_pairwise,
      scan_flat,
      scan_flat_long,
      scan_doubling,
      exscan_flat,
      exscan_flat_long,
      exscan_doubling,
  };
  return rows;
}

}  // namespace muster::algos
