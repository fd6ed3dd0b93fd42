#include "engine/mpi/beneath.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace muster::mpi {

void* find_symbol_beneath(const char* name) noexcept {
  void* const found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "muster: no %s after this library; expected to be loaded before the MPI\n",
                 name);
    std::abort();
  }
  return found;
}

}  // namespace muster::mpi
