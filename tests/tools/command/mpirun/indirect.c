/* A library that uses an MPI, and a program that uses the library alone. */
#ifdef LIBRARY
#include <mpi.h>

int sum_of_ranks(int* argc, char*** argv) {
  int rank = 0, sum = 0;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum;
}
#else
int sum_of_ranks(int* argc, char*** argv);

int main(int argc, char** argv) { return sum_of_ranks(&argc, &argv) == 1 ? 0 : 1; }
#endif
