// What a program does with requests is the MPI's business, but for those of persistent collectives.
#include <mpi.h>

#include "engine/mpi/beneath.hpp"
#include "engine/mpi/shim.hpp"

using muster::mpi::find_beneath;
using muster::mpi::shim;

extern "C" int MPI_Start(MPI_Request* request) {
  static const auto beneath = find_beneath<decltype(&MPI_Start)>("PMPI_Start");
  const int code = beneath(request);
  if (code == MPI_SUCCESS) shim::started(*request);
  return code;
}

extern "C" int MPI_Startall(int count, MPI_Request requests[]) {
  static const auto beneath = find_beneath<decltype(&MPI_Startall)>("PMPI_Startall");
  const int code = beneath(count, requests);
  if (code != MPI_SUCCESS) return code;
  for (int i = 0; i < count; ++i) shim::started(requests[i]);
  return code;
}

extern "C" int MPI_Request_free(MPI_Request* request) {
  static const auto beneath = find_beneath<decltype(&MPI_Request_free)>("PMPI_Request_free");
  if (request != nullptr) shim::freed(*request);
  return beneath(request);
}

extern "C" decltype(MPI_Start) PMPI_Start __attribute__((alias("MPI_Start")));
extern "C" decltype(MPI_Startall) PMPI_Startall __attribute__((alias("MPI_Startall")));
extern "C" decltype(MPI_Request_free) PMPI_Request_free __attribute__((alias("MPI_Request_free")));
