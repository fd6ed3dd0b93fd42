// Ends MPI when main has returned: in a function that was registered with `atexit` before MPI_Init
// or, with "static", in the destructor of a static object. With "wrong" it also makes a wrong call
// there, which Debian's MPICH alone would not survive.

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/job.hpp"

namespace {

using namespace muster::testing;

job* the_job = nullptr;

void call_wrongly() {
  int one = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Bcast(&one, 1, MPI_INT, 1000, MPI_COMM_WORLD);
  std::vector<char> text(MPI_MAX_ERROR_STRING);
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  the_job->check(std::string(text.data()).find("root") != std::string::npos, "a wrong call says '",
                 text.data(), "'; expected something of a root");
}

/// All forms of calls, on communicators old and new, and the end.
void end_job() {
  the_job->now("after main");
  MPI_Comm on = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  for (const MPI_Comm each : {MPI_COMM_WORLD, on}) {
    for (int kind = 0; kind < flight::kinds; ++kind) {
      flight late(each, static_cast<flight::kind>(kind), kind, 3000);
      MPI_Request request = late.start();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      late.verify(*the_job, "after main");
    }
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, each);
    the_job->check_equal(sum, the_job->size(), "a sum after main");
  }
  if (the_job->has("wrong")) call_wrongly();
  MPI_Comm_free(&on);
  if (the_job->finish() != 0) std::_Exit(1);
}

struct ends_job {
  ~ends_job() {
    if (the_job != nullptr && the_job->has("static")) end_job();
  }
};
ends_job at_the_end;

}  // namespace

int main(int argc, char** argv) {
  const bool is_static = argc > 1 && std::string(argv[1]) == "static";
  if (!is_static) std::atexit(end_job);
  the_job = new job(argc, argv);
  flight early(MPI_COMM_WORLD, flight::kind::alltoall, 0, 1000);
  MPI_Request request = early.start();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  early.verify(*the_job, "in main");
  return 0;
}
