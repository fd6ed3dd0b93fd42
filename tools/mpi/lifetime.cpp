// Where a program's MPI begins and ends, so does the shim. entries.py writes the MPI_ functions,
// which call these.
#include <mpi.h>

#include <memory>

#include "tools/mpi/next.hpp"
#include "tools/mpi/presence.hpp"
#include "tools/mpi/shim.hpp"

using muster::mpi::find_next;
using muster::mpi::notice_board;
using muster::mpi::put_notice_up;
using muster::mpi::shim;

extern "C" int PMPI_Init(int* argc, char*** argv) {
  static const auto beneath = find_next<decltype(&MPI_Init)>("PMPI_Init");
  const std::unique_ptr<notice_board> board = put_notice_up();
  const int code = beneath(argc, argv);
  if (code == MPI_SUCCESS) shim::begin(board.get());
  return code;
}

extern "C" int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  static const auto beneath = find_next<decltype(&MPI_Init_thread)>("PMPI_Init_thread");
  const std::unique_ptr<notice_board> board = put_notice_up();
  const int code = beneath(argc, argv, required, provided);
  if (code == MPI_SUCCESS) shim::begin(board.get());
  return code;
}

extern "C" int PMPI_Finalize() {
  static const auto beneath = find_next<decltype(&MPI_Finalize)>("PMPI_Finalize");
  shim::end();
  return beneath();
}
