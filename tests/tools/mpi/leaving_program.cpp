// Ends in the way that its argument says, with collectives under way: `abort`, `killed`, `stopped`.

#include <signal.h>
#include <unistd.h>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/job.hpp"

int main(int argc, char** argv) {
  using namespace muster::testing;
  job mine(argc, argv);
  MPI_Comm on = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  flight first(on, flight::kind::alltoall, 0, 1000);
  MPI_Request request = first.start();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  first.verify(mine, "before the end");
  flight second(on, flight::kind::alltoall, 1, 1000);
  const bool is_last = mine.rank() == mine.size() - 1;
  // Before it posts what the others need: they would not miss it.
  if (is_last && mine.has("stopped")) ::raise(SIGSTOP);
  if (mine.rank() != 0) request = second.start();
  if (is_last) {
    if (mine.has("abort")) MPI_Abort(MPI_COMM_WORLD, 3);
    if (mine.has("killed")) ::raise(SIGKILL);
  }
  if (mine.rank() == 0) request = second.start();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&on);
  return mine.finish();
}
