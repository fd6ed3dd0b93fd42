// One rank of a program that uses MPI and Muster side by side: says whom it finds by each.

#include <mpi.h>

#include <cstdio>
#include <optional>

#include <muster/muster.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::optional<muster::world> world(std::in_place);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int by_mpi = 0;
  MPI_Allreduce(&rank, &by_mpi, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int by_muster[1] = {rank};
  world->run(muster::allreduce(world->team(), by_muster, muster::sum));
  const bool same = static_cast<int>(world->team().rank()) == rank &&
                    static_cast<int>(world->team().size()) == size && by_muster[0] == by_mpi;
  std::printf("rank %d of %d: %s\n", rank, size, same ? "the same by both" : "DIFFERENT");
  world.reset();
  MPI_Finalize();
  return 0;
}
