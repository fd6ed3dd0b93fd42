#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/collective/arguments.hpp"

namespace muster::mpi {

/// MPI's collectives, as far as the shim takes them: Muster's, and alltoallw, which is Muster's
/// alltoallv in bytes.
enum class routine : std::uint8_t {};
constexpr routine routine_of(collective what) noexcept { return static_cast<routine>(what); }
inline constexpr routine alltoallw{collectives};
inline constexpr std::size_t routines = collectives + 1;

enum class form : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::size_t forms = 3;

constexpr collective collective_of(routine which) noexcept {
  return which == alltoallw ? collective::alltoallv : static_cast<collective>(which);
}

/// As users write it: "alltoall", "ialltoall", "alltoall_init".
std::string name_of(routine which, form how);

}  // namespace muster::mpi
