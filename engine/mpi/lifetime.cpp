// Where a program's MPI begins and ends, so does the shim.
#include <mpi.h>

#include "engine/mpi/beneath.hpp"
#include "engine/mpi/shim.hpp"

using muster::mpi::find_beneath;
using muster::mpi::shim;

extern "C" int MPI_Init(int* argc, char*** argv) {
  static const auto beneath = find_beneath<decltype(&MPI_Init)>("PMPI_Init");
  const int code = beneath(argc, argv);
  if (code == MPI_SUCCESS) shim::begin();
  return code;
}

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  static const auto beneath = find_beneath<decltype(&MPI_Init_thread)>("PMPI_Init_thread");
  const int code = beneath(argc, argv, required, provided);
  if (code == MPI_SUCCESS) shim::begin();
  return code;
}

extern "C" int MPI_Finalize() {
  static const auto beneath = find_beneath<decltype(&MPI_Finalize)>("PMPI_Finalize");
  shim::end();
  return beneath();
}

extern "C" decltype(MPI_Init) PMPI_Init __attribute__((alias("MPI_Init")));
extern "C" decltype(MPI_Init_thread) PMPI_Init_thread __attribute__((alias("MPI_Init_thread")));
extern "C" decltype(MPI_Finalize) PMPI_Finalize __attribute__((alias("MPI_Finalize")));
