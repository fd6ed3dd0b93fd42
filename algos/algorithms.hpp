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
extern const algorithm allreduce_grouped;
extern const algorithm allreduce_flat;
extern const algorithm allreduce_flat_long;
extern const algorithm allreduce_srm;
extern const algorithm allgather_grouped;
extern const algorithm allgather_flat;
extern const algorithm allgather_flat_long;
extern const algorithm allgather_leader_ring;
extern const algorithm alltoall_flat;
extern const algorithm alltoall_flat_long;
extern const algorithm alltoall_pairwise;

}  // namespace muster::algos
