#pragma once

#include "engine/collective/catalog.hpp"

/// One declaration for each algorithm in this folder's subfolders; `catalog.cpp` lists them.
namespace muster::algos {

extern const algorithm barrier_grouped;
extern const algorithm barrier_flat;
extern const algorithm barrier_srm;
extern const algorithm bcast_grouped;
extern const algorithm bcast_flat;
extern const algorithm bcast_flat_long;
extern const algorithm bcast_srm;
extern const algorithm reduce_grouped;
extern const algorithm reduce_flat;
extern const algorithm reduce_root_combines;
extern const algorithm reduce_flat_long;
extern const algorithm reduce_srm;
extern const algorithm reduce_binomial;
extern const algorithm allreduce_grouped;
extern const algorithm allreduce_flat;
extern const algorithm allreduce_flat_long;
extern const algorithm allreduce_srm;
extern const algorithm allreduce_recursive_doubling;
extern const algorithm allgather_grouped;
extern const algorithm allgather_flat;
extern const algorithm allgather_flat_long;
extern const algorithm allgather_leader_ring;
extern const algorithm allgather_smp_direct;
extern const algorithm alltoall_flat;
extern const algorithm alltoall_flat_long;
extern const algorithm alltoall_pairwise;
extern const algorithm alltoall_ohio_v1;
extern const algorithm alltoall_ohio_v2;
extern const algorithm alltoall_ohio_v3;
extern const algorithm alltoall_staged_stream;
extern const algorithm alltoall_pap_shm_direct;
extern const algorithm scatter_flat;
extern const algorithm scatter_flat_long;
extern const algorithm scatter_binomial;
extern const algorithm gather_flat;
extern const algorithm gather_flat_long;
extern const algorithm gather_binomial;
extern const algorithm scatterv_flat_long;
extern const algorithm scatterv_linear;
extern const algorithm gatherv_flat_long;
extern const algorithm gatherv_linear;
extern const algorithm allgatherv_flat;
extern const algorithm allgatherv_flat_long;
extern const algorithm allgatherv_ring;
extern const algorithm alltoallv_flat_long;
extern const algorithm alltoallv_pairwise;
extern const algorithm reduce_scatter_block_flat;
extern const algorithm reduce_scatter_block_flat_long;
extern const algorithm reduce_scatter_block_pairwise;
extern const algorithm reduce_scatter_flat;
extern const algorithm reduce_scatter_flat_long;
extern const algorithm reduce_scatter_pairwise;
extern const algorithm scan_flat;
extern const algorithm scan_flat_long;
extern const algorithm scan_doubling;
extern const algorithm exscan_flat;
extern const algorithm exscan_flat_long;
extern const algorithm exscan_doubling;

}  // namespace muster::algos
