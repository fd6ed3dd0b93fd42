// An MPI's calls of rank 1 of two, whose peer is there already, each counted by callgrind.

#include <mpi.h>

#include <chrono>
#include <thread>

#include "tests/instructions/counted.hpp"

namespace muster::testing {
namespace {

template <class Call>
void count(int rank, const char* name, Call call) {
  for (int i = 0; i < calls_of_a_kind; ++i) {
    // Rank 0, which nothing slows down, is there long before.
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const counted here(name, i);
    call();
  }
}

void count_all(int rank) {
  double mine = 1;
  double all = 0;
  count(rank, "MPI_Barrier", [&] { MPI_Barrier(MPI_COMM_WORLD); });
  count(rank, "MPI_Bcast", [&] { MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); });
  count(rank, "MPI_Allreduce",
        [&] { MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
}

}  // namespace
}  // namespace muster::testing

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  muster::testing::count_all(rank);
  MPI_Finalize();
}
