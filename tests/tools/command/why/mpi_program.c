/* An MPI program whose last rank does not come to the fourth call. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  double mine = 1, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 4; ++i) {
    while (i == 3 && rank + 1 == size) pause();
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
