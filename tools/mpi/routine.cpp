#include "tools/mpi/routine.hpp"

namespace muster::mpi {

namespace {

std::string_view base_of(routine which) {
  if (which == alltoallw) return "alltoallw";
  if (which == neighbor_alltoallw) return "neighbor_alltoallw";
  return name(collective_of(which));
}

}  // namespace

std::string name_of(routine which, form how) {
  const std::string base(base_of(which));
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
