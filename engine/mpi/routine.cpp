#include "engine/mpi/routine.hpp"

namespace muster::mpi {

std::string name_of(routine which, form how) {
  const std::string base(which == alltoallw ? "alltoallw" : name(collective_of(which)));
  switch (how) {
    case form::blocking:
      return base;
    case form::nonblocking:
      return "i" + base;
    case form::persistent:
      return base + "_init";
  }
  return base;
}

}  // namespace muster::mpi
