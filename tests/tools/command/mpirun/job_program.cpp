// An MPI program that tells how it was started, and ends as it is told to.
//
// usage: job_program told WORD…     rank 0 prints how many ranks there are, and the words
//        job_program status NUMBER  all end with it
//        job_program for-ever       says that it is there and waits for a signal
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, one = 1, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%d ranks:", ranks);
    for (int i = 2; i < argc; ++i) std::printf(" [%s]", argv[i]);
    std::printf("\n");
    std::fflush(stdout);
  }
  const char* const what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "for-ever") == 0) pause();
  MPI_Finalize();
  return std::strcmp(what, "status") == 0 ? std::atoi(argv[2]) : 0;
}
