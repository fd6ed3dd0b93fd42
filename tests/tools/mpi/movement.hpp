#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/shapes.hpp"
#include "tests/tools/mpi/turns.hpp"

namespace muster::testing {

enum class movement {
  bcast,
  scatter,
  gather,
  allgather,
  alltoall,
  scatterv,
  gatherv,
  allgatherv,
  alltoallv,
  alltoallw,
};
inline constexpr movement all_movements[] = {
    movement::bcast,     movement::scatter,   movement::gather,  movement::allgather,
    movement::alltoall,  movement::scatterv,  movement::gatherv, movement::allgatherv,
    movement::alltoallv, movement::alltoallw,
};

constexpr bool has_root(movement what) {
  using enum movement;
  return what == bcast || what == scatter || what == gather || what == scatterv || what == gatherv;
}
constexpr bool has_in_place(movement what) { return what != movement::bcast; }

/// A call that moves data, alike on all ranks.
struct movement_case {
  movement what = movement::bcast;
  form how = form::blocking;
  bool large = false;     ///< by the functions that count in MPI_Count
  bool in_place = false;  ///< at the root, or everywhere
  bool tests = false;
  bool frees_types = false;  ///< while the call is under way
  int root = 0;
  const shape* sent = nullptr;  ///< both of one family; the same with `in_place`
  const shape* received = nullptr;
  std::size_t elements = 0;  ///< in a block; the most where blocks vary
  std::uint64_t seed = 0;    ///< of lengths, places and data

  std::string describe() const;
};

/// Calls, and complains of each byte that is not as it should be.
void check_movement(job& of, MPI_Comm on, const movement_case& what);

}  // namespace muster::testing
