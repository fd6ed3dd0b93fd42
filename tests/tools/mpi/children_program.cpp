// Ranks start child processes that end in all ways there are, while collectives are under way.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/job.hpp"

namespace {

using namespace muster::testing;

enum class way { exits, exits_at_once, runs_nothing, runs_another, forks_again, returns };
constexpr std::array all_ways = {way::exits,        way::exits_at_once, way::runs_nothing,
                                 way::runs_another, way::forks_again,   way::returns};
constexpr int status_of_child = 7;

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// In a child: ends in one of the ways, or returns, to return from main.
void end_by(way how) {
  switch (how) {
    case way::exits:
      std::exit(status_of_child);
    case way::exits_at_once:
      ::_exit(status_of_child);
    case way::runs_nothing:
      ::execl("/no/such/program", "program", nullptr);
      std::exit(status_of_child);
    case way::runs_another:
      ::execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
      std::exit(1);
    case way::forks_again: {
      const pid_t child = ::fork();
      if (child == 0) std::exit(status_of_child);
      std::exit(status_of(child));
    }
    case way::returns:
      break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  job mine(
      argc, argv,
      argc > 1 && std::string(argv[1]) == "multiple" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
  MPI_Comm on = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  int number = 0;
  flight first(on, flight::kind::alltoall, number, 1000);
  for (const way how : all_ways) {
    mine.now("child " + std::to_string(static_cast<int>(how)));
    // One rank's other calls may come later than its child's end.
    flight across(on, flight::kind::allreduce, number, 1000);
    MPI_Request request = across.start();
    const bool has_child = (mine.rank() + static_cast<int>(how)) % 2 == 0 || mine.size() == 1;
    const pid_t child = has_child ? ::fork() : -1;
    if (child == 0) {
      end_by(how);
      return status_of_child;
    }
    if (has_child) mine.check_equal(status_of(child), status_of_child, "the child's status");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    across.verify(mine, "across a child's life");
    first.renumber(++number);
    request = first.start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    first.verify(mine, "after a child's end");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&on);
  return mine.finish();
}
