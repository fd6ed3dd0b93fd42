#include "engine/mpi/routine.hpp"

#include <array>

namespace muster::mpi {

std::string_view name_of(routine which, form how) noexcept {
  static constexpr std::array<std::array<std::string_view, forms>, routines> names{{
      {"barrier", "ibarrier", "barrier_init"},
      {"bcast", "ibcast", "bcast_init"},
      {"reduce", "ireduce", "reduce_init"},
      {"allreduce", "iallreduce", "allreduce_init"},
      {"allgather", "iallgather", "allgather_init"},
      {"alltoall", "ialltoall", "alltoall_init"},
      {"scatter", "iscatter", "scatter_init"},
      {"gather", "igather", "gather_init"},
      {"reduce_scatter_block", "ireduce_scatter_block", "reduce_scatter_block_init"},
      {"scan", "iscan", "scan_init"},
      {"exscan", "iexscan", "exscan_init"},
      {"scatterv", "iscatterv", "scatterv_init"},
      {"gatherv", "igatherv", "gatherv_init"},
      {"allgatherv", "iallgatherv", "allgatherv_init"},
      {"alltoallv", "ialltoallv", "alltoallv_init"},
      {"reduce_scatter", "ireduce_scatter", "reduce_scatter_init"},
      {"alltoallw", "ialltoallw", "alltoallw_init"},
  }};
  return names[static_cast<std::size_t>(which)][static_cast<std::size_t>(how)];
}

}  // namespace muster::mpi
