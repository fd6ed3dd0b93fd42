// How long MPI_Init takes on the rank on which it takes longest.
#include <mpi.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  using milliseconds = std::chrono::duration<double, std::milli>;
  const auto begin = std::chrono::steady_clock::now();
  MPI_Init(&argc, &argv);
  const double mine = milliseconds(std::chrono::steady_clock::now() - begin).count();
  double longest = 0;
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("MPI_Init: %.3f ms\n", longest);
  MPI_Finalize();
}
