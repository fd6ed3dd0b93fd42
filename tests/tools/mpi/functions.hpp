#pragma once

#include <mpi.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

namespace muster::testing {

#ifdef OPEN_MPI
// MPI-4's names for what Open MPI 4 has as an extension.
inline constexpr auto MPI_Barrier_init = MPIX_Barrier_init;
inline constexpr auto MPI_Bcast_init = MPIX_Bcast_init;
inline constexpr auto MPI_Reduce_init = MPIX_Reduce_init;
inline constexpr auto MPI_Allreduce_init = MPIX_Allreduce_init;
inline constexpr auto MPI_Allgather_init = MPIX_Allgather_init;
inline constexpr auto MPI_Allgatherv_init = MPIX_Allgatherv_init;
inline constexpr auto MPI_Alltoall_init = MPIX_Alltoall_init;
inline constexpr auto MPI_Alltoallv_init = MPIX_Alltoallv_init;
inline constexpr auto MPI_Alltoallw_init = MPIX_Alltoallw_init;
inline constexpr auto MPI_Scatter_init = MPIX_Scatter_init;
inline constexpr auto MPI_Scatterv_init = MPIX_Scatterv_init;
inline constexpr auto MPI_Gather_init = MPIX_Gather_init;
inline constexpr auto MPI_Gatherv_init = MPIX_Gatherv_init;
inline constexpr auto MPI_Reduce_scatter_init = MPIX_Reduce_scatter_init;
inline constexpr auto MPI_Reduce_scatter_block_init = MPIX_Reduce_scatter_block_init;
inline constexpr auto MPI_Scan_init = MPIX_Scan_init;
inline constexpr auto MPI_Exscan_init = MPIX_Exscan_init;
inline constexpr auto MPI_Neighbor_allgather_init = MPIX_Neighbor_allgather_init;
inline constexpr auto MPI_Neighbor_allgatherv_init = MPIX_Neighbor_allgatherv_init;
inline constexpr auto MPI_Neighbor_alltoall_init = MPIX_Neighbor_alltoall_init;
inline constexpr auto MPI_Neighbor_alltoallv_init = MPIX_Neighbor_alltoallv_init;
inline constexpr auto MPI_Neighbor_alltoallw_init = MPIX_Neighbor_alltoallw_init;
#endif

/// The three functions of a collective.
template <class Blocking, class Nonblocking, class Persistent>
struct forms {
  Blocking blocking;
  Nonblocking nonblocking;
  Persistent persistent;
};

/// MPI's collectives, in one of the widths in which it counts.
template <class Count>
struct functions;

template <>
struct functions<int> {
  using displacement = int;
  static constexpr forms bcast{MPI_Bcast, MPI_Ibcast, MPI_Bcast_init};
  static constexpr forms scatter{MPI_Scatter, MPI_Iscatter, MPI_Scatter_init};
  static constexpr forms gather{MPI_Gather, MPI_Igather, MPI_Gather_init};
  static constexpr forms allgather{MPI_Allgather, MPI_Iallgather, MPI_Allgather_init};
  static constexpr forms alltoall{MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init};
  static constexpr forms scatterv{MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init};
  static constexpr forms gatherv{MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init};
  static constexpr forms allgatherv{MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init};
  static constexpr forms alltoallv{MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init};
  static constexpr forms alltoallw{MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init};
  static constexpr forms reduce{MPI_Reduce, MPI_Ireduce, MPI_Reduce_init};
  static constexpr forms allreduce{MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init};
  static constexpr forms reduce_scatter_block{MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                                              MPI_Reduce_scatter_block_init};
  static constexpr forms reduce_scatter{MPI_Reduce_scatter, MPI_Ireduce_scatter,
                                        MPI_Reduce_scatter_init};
  static constexpr forms scan{MPI_Scan, MPI_Iscan, MPI_Scan_init};
  static constexpr forms exscan{MPI_Exscan, MPI_Iexscan, MPI_Exscan_init};
  static constexpr forms neighbor_allgather{MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
                                            MPI_Neighbor_allgather_init};
  static constexpr forms neighbor_allgatherv{MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
                                             MPI_Neighbor_allgatherv_init};
  static constexpr forms neighbor_alltoall{MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall,
                                           MPI_Neighbor_alltoall_init};
  static constexpr forms neighbor_alltoallv{MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv,
                                            MPI_Neighbor_alltoallv_init};
  static constexpr forms neighbor_alltoallw{MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
                                            MPI_Neighbor_alltoallw_init};
};

#if MPI_VERSION >= 4
inline constexpr bool has_large_counts = true;
using large_count = MPI_Count;

template <>
struct functions<MPI_Count> {
  using displacement = MPI_Aint;
  static constexpr forms bcast{MPI_Bcast_c, MPI_Ibcast_c, MPI_Bcast_init_c};
  static constexpr forms scatter{MPI_Scatter_c, MPI_Iscatter_c, MPI_Scatter_init_c};
  static constexpr forms gather{MPI_Gather_c, MPI_Igather_c, MPI_Gather_init_c};
  static constexpr forms allgather{MPI_Allgather_c, MPI_Iallgather_c, MPI_Allgather_init_c};
  static constexpr forms alltoall{MPI_Alltoall_c, MPI_Ialltoall_c, MPI_Alltoall_init_c};
  static constexpr forms scatterv{MPI_Scatterv_c, MPI_Iscatterv_c, MPI_Scatterv_init_c};
  static constexpr forms gatherv{MPI_Gatherv_c, MPI_Igatherv_c, MPI_Gatherv_init_c};
  static constexpr forms allgatherv{MPI_Allgatherv_c, MPI_Iallgatherv_c, MPI_Allgatherv_init_c};
  static constexpr forms alltoallv{MPI_Alltoallv_c, MPI_Ialltoallv_c, MPI_Alltoallv_init_c};
  static constexpr forms alltoallw{MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c};
  static constexpr forms reduce{MPI_Reduce_c, MPI_Ireduce_c, MPI_Reduce_init_c};
  static constexpr forms allreduce{MPI_Allreduce_c, MPI_Iallreduce_c, MPI_Allreduce_init_c};
  static constexpr forms reduce_scatter_block{
      MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block_c, MPI_Reduce_scatter_block_init_c};
  static constexpr forms reduce_scatter{MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c,
                                        MPI_Reduce_scatter_init_c};
  static constexpr forms scan{MPI_Scan_c, MPI_Iscan_c, MPI_Scan_init_c};
  static constexpr forms exscan{MPI_Exscan_c, MPI_Iexscan_c, MPI_Exscan_init_c};
  static constexpr forms neighbor_allgather{MPI_Neighbor_allgather_c, MPI_Ineighbor_allgather_c,
                                            MPI_Neighbor_allgather_init_c};
  static constexpr forms neighbor_allgatherv{MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv_c,
                                             MPI_Neighbor_allgatherv_init_c};
  static constexpr forms neighbor_alltoall{MPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall_c,
                                           MPI_Neighbor_alltoall_init_c};
  static constexpr forms neighbor_alltoallv{MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c,
                                            MPI_Neighbor_alltoallv_init_c};
  static constexpr forms neighbor_alltoallw{MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c,
                                            MPI_Neighbor_alltoallw_init_c};
};
#else
inline constexpr bool has_large_counts = false;
using large_count = int;
#endif

}  // namespace muster::testing
