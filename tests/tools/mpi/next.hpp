#pragma once

#include <mpi.h>

namespace muster::testing {

/// The MPI's own function of a name, whatever library was loaded before the MPI.
void* find_in_mpi(const char* name);
template <class Function>
Function in_mpi(Function, const char* name) {
  return reinterpret_cast<Function>(find_in_mpi(name));
}

}  // namespace muster::testing
