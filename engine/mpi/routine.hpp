#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/collective/arguments.hpp"

namespace muster::mpi {

/// MPI's collectives, as far as the shim takes them. But for alltoallw, which is Muster's alltoallv
/// in bytes, they are Muster's under the same names.
enum class routine : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  alltoall,
  scatter,
  gather,
  reduce_scatter_block,
  scan,
  exscan,
  scatterv,
  gatherv,
  allgatherv,
  alltoallv,
  reduce_scatter,
  alltoallw,
};
inline constexpr std::size_t routines = 17;

enum class form : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::size_t forms = 3;

constexpr collective collective_of(routine which) noexcept {
  return which == routine::alltoallw ? collective::alltoallv : static_cast<collective>(which);
}

/// As users write it: "alltoall", "ialltoall", "alltoall_init".
std::string_view name_of(routine which, form how) noexcept;

}  // namespace muster::mpi
