// A part of a program whose other parts may have no shim: its first call is a collective, of as
// many bytes as anybody might tell others in MPI_Init, then come messages from whomever, with any
// tag.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

/// A byte that depends on who says it in which call.
unsigned char said(int rank, int call) { return static_cast<unsigned char>(17 * rank + call + 1); }

bool allgather_is_right(int rank, int size, int call, int bytes) {
  const std::vector<unsigned char> mine(static_cast<std::size_t>(bytes), said(rank, call));
  std::vector<unsigned char> all(mine.size() * static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from) {
    const auto block = all.begin() + static_cast<std::ptrdiff_t>(from) * bytes;
    if (!std::all_of(block, block + bytes,
                     [&](unsigned char one) { return one == said(from, call); })) {
      return false;
    }
  }
  return true;
}

/// Every rank sends one to rank 0, which takes them as they come.
bool messages_are_right(int rank, int size) {
  if (rank != 0) {
    MPI_Send(&rank, 1, MPI_INT, 0, 100 + rank, MPI_COMM_WORLD);
    return true;
  }
  std::vector<bool> came(static_cast<std::size_t>(size));
  for (int i = 1; i < size; ++i) {
    int from = 0;
    MPI_Status status;
    MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    const bool right = from == status.MPI_SOURCE && status.MPI_TAG == 100 + from;
    if (!right || came[static_cast<std::size_t>(from)]) return false;
    came[static_cast<std::size_t>(from)] = true;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int call = 0;
  bool right = true;
  // The first is as long as the settings that ranks with the shim compare.
  for (const int bytes : {8, 1, 4, 8, 16, 24, 32, 40, 4096, 100000}) {
    right = allgather_is_right(rank, size, call++, bytes) && right;
  }
  right = messages_are_right(rank, size) && right;
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  right = sum == size * (size - 1) / 2 && right;
  if (!right) std::fprintf(stderr, "rank %d of %d: wrong\n", rank, size);
  MPI_Finalize();
  return right ? 0 : 1;
}
