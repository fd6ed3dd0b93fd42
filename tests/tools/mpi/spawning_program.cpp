// Starts two more processes by MPI_Comm_spawn, which make collective calls of their own, and
// together with those that started them.

#include <string>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/job.hpp"

int main(int argc, char** argv) {
  using namespace muster::testing;
  job mine(argc, argv);
  MPI_Comm others = MPI_COMM_NULL;
  MPI_Comm_get_parent(&others);
  const bool is_child = others != MPI_COMM_NULL;
  if (!is_child) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                   MPI_ERRCODES_IGNORE);
  }
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(others, is_child ? 1 : 0, &all);
  for (const MPI_Comm on : {MPI_COMM_WORLD, all}) {
    flight one(on, flight::kind::allreduce, 0, 100);
    MPI_Request request = one.start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    one.verify(mine, is_child ? "started" : "starting");
  }
  int started = is_child ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &started, 1, MPI_INT, MPI_SUM, all);
  mine.check_equal(started, 2, "processes started");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&others);
  return mine.finish();
}
