#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/call/arguments.hpp>

namespace muster::mpi {

/// MPI's collectives, as far as the shim takes them: Muster's, and those whose names end with a w,
/// which are Muster's with a v in bytes.
enum class routine : std::uint8_t {};
constexpr routine routine_of(collective what) noexcept { return static_cast<routine>(what); }
inline constexpr routine alltoallw{collectives};
inline constexpr routine neighbor_alltoallw{collectives + 1};
inline constexpr std::size_t routines = collectives + 2;

enum class form : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::size_t forms = 3;

constexpr collective collective_of(routine which) noexcept {
  if (which == alltoallw) return collective::alltoallv;
  if (which == neighbor_alltoallw) return collective::neighbor_alltoallv;
  return static_cast<collective>(which);
}

/// As users write it: "alltoall", "ialltoall", "alltoall_init".
std::string name_of(routine which, form how);

}  // namespace muster::mpi
