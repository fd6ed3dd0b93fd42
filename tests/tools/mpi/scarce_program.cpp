// A communicator whose team one rank cannot make, for want of memory of its own: calls on it fail
// on all ranks, and say why; others go on. With "begin" rank 1 cannot even begin between machines:
// all calls are the MPI's.

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <muster/run/team.hpp>

#include "tests/harness/scarce_memory.hpp"
#include "tests/tools/mpi/job.hpp"
#include "transports/mpi/endpoint.hpp"

namespace {

using namespace muster::testing;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

int add_ones(MPI_Comm on, int& ones) {
  ones = 1;
  return MPI_Allreduce(MPI_IN_PLACE, &ones, 1, MPI_INT, MPI_SUM, on);
}

void fail_on_all(job& mine) {
  mine.now("a team that rank 1 cannot make");
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
  int ones = 0;
  int code = MPI_SUCCESS;
  if (mine.rank() == 1) {
    const scarce_memory scarce(sizeof(muster::team));
    code = add_ones(one, ones);
    mine.check_equal(scarce.refused(), 1U, "allocations that were refused");
  } else {
    code = add_ones(one, ones);
  }
  mine.check(code != MPI_SUCCESS, "the call succeeded");
  const std::string text = text_of(code);
  const std::string_view why =
      mine.rank() == 1 ? "its team cannot be made" : "rank 1 has no memory for its team";
  mine.check(text.find(why) != std::string::npos, "the call failed with: ", text);
  MPI_Comm_free(&one);
}

/// As launchers say it to those who have not begun MPI yet.
bool will_be_rank_1() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  return rank != nullptr && std::string_view(rank) == "1";
}

}  // namespace

int main(int argc, char** argv) {
  const bool cannot_begin = argc > 1 && std::string_view(argv[1]) == "begin";
  std::optional<scarce_memory> scarce;
  if (cannot_begin && will_be_rank_1()) scarce.emplace(sizeof(muster::mpi::endpoint));
  job mine(argc, argv);
  if (scarce) mine.check_equal(scarce->refused(), 1U, "allocations that were refused");
  scarce.reset();
  for (int i = 0; i < 3 && !cannot_begin; ++i) fail_on_all(mine);
  mine.now("another team");
  MPI_Comm another = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &another);
  for (const MPI_Comm on : {MPI_COMM_WORLD, another}) {
    int ones = 0;
    add_ones(on, ones);
    mine.check_equal(ones, mine.size(), "the sum of ones");
  }
  MPI_Comm_free(&another);
  return mine.finish();
}
