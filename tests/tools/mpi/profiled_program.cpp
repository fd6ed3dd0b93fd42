// Makes the same calls in every run, for a profiler to count.

#include <array>
#include <vector>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/job.hpp"

namespace {

using namespace muster::testing;

void add(void* in, void* into, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(into)[i] += static_cast<int*>(in)[i];
}

void complete_in_all_ways(job& mine) {
  std::array<MPI_Request, 2> requests{};
  std::array<int, 2> which{};
  int index = 0;
  int done = 0;
  const auto begin = [&](int count) {
    for (int i = 0; i < count; ++i)
      MPI_Ibarrier(MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
  };
  begin(1);
  MPI_Wait(requests.data(), MPI_STATUS_IGNORE);
  begin(2);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  begin(1);
  MPI_Waitany(1, requests.data(), &index, MPI_STATUS_IGNORE);
  begin(1);
  MPI_Waitsome(1, requests.data(), &done, which.data(), MPI_STATUSES_IGNORE);
  mine.check_equal(done, 1, "requests completed");
  // Of none, so that how often does not depend on time.
  MPI_Test(requests.data(), &done, MPI_STATUS_IGNORE);
  MPI_Testall(2, requests.data(), &done, MPI_STATUSES_IGNORE);
  MPI_Testany(2, requests.data(), &index, &done, MPI_STATUS_IGNORE);
  MPI_Testsome(2, requests.data(), &done, which.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  for (int kind = 0; kind < flight::kinds; ++kind) {
    flight one(MPI_COMM_WORLD, static_cast<flight::kind>(kind), kind, 100);
    MPI_Request request = one.start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    one.verify(mine, "profiled");
  }
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  const int one = 1;
  std::vector<int> many(static_cast<std::size_t>(mine.size()), 1);
  std::vector<int> sum(many.size());
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&one, sum.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    mine.check_equal(sum[0], mine.size(), "a sum");
    MPI_Reduce(&one, sum.data(), 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    MPI_Alltoall(many.data(), 1, MPI_INT, sum.data(), 1, MPI_INT, MPI_COMM_WORLD);
    mine.check(sum == many, "what came");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Op_free(&op);
  complete_in_all_ways(mine);
  return mine.finish();
}
