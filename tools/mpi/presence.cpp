#include "tools/mpi/presence.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <muster/base/version.hpp>

#include "tools/mpi/agreement.hpp"
#include "tools/mpi/patient_wait.hpp"

namespace muster::mpi {
namespace {

// Ranks as a binomial tree, so that each asks for few others.
std::size_t parent_of(std::size_t rank) noexcept { return rank & (rank - 1); }

std::vector<std::size_t> children_of(std::size_t rank, std::size_t size) {
  std::vector<std::size_t> all;
  const std::size_t end = rank == 0 ? size : rank & (~rank + 1);
  for (std::size_t step = 1; step < end && rank + step < size; step *= 2) {
    all.push_back(rank + step);
  }
  return all;
}

// Between processes that are both in MPI_Init: nothing else from there can come before it.
constexpr int tag = 0;

void tell(std::size_t rank, std::size_t missing) {
  PMPI_Send(&missing, sizeof missing, MPI_BYTE, static_cast<int>(rank), tag, MPI_COMM_WORLD);
}

std::size_t hear(std::size_t rank) {
  std::size_t missing = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Irecv(&missing, sizeof missing, MPI_BYTE, static_cast<int>(rank), tag, MPI_COMM_WORLD,
             &request);
  wait_patiently(request);
  return missing;
}

/// A rank without a notice; their number where there is none. Known to all that have one: who
/// misses its parent in the tree or a child knows it, and whoever is joined with it by others hears
/// of it.
std::size_t find_missing(notice_board& board, std::size_t rank, std::size_t size) {
  std::size_t missing = size;
  std::vector<std::size_t> below;
  for (const std::size_t child : children_of(rank, size)) {
    if (board.has_notice_of(child)) {
      below.push_back(child);
    } else {
      missing = std::min(missing, child);
    }
  }
  for (const std::size_t child : below) missing = std::min(missing, hear(child));
  if (rank != 0) {
    const std::size_t parent = parent_of(rank);
    if (board.has_notice_of(parent)) {
      tell(parent, missing);
      missing = hear(parent);
    } else {
      missing = std::min(missing, parent);
    }
  }
  for (const std::size_t child : below) tell(child, missing);
  return missing;
}

bool is_first_present(notice_board& board, std::size_t rank) {
  for (std::size_t other = 0; other < rank; ++other) {
    if (board.has_notice_of(other)) return false;
  }
  return true;
}

void complain(const std::string& why) {
  std::fprintf(stderr, "muster: all calls go to the MPI: %s\n", why.c_str());
}

}  // namespace

const char* notice() noexcept { return "muster-" MUSTER_VERSION; }

bool all_are_present(notice_board* board, bool tells) {
  const communicator_bootstrap world(MPI_COMM_WORLD);
  if (world.size() == 1) return true;
  if (board == nullptr) {
    if (tells && world.rank() == 0) {
      complain("the launcher has no way to tell which ranks have this library");
    }
    return false;
  }
  const std::size_t missing = find_missing(*board, world.rank(), world.size());
  if (missing == world.size()) return true;
  if (tells && is_first_present(*board, world.rank())) {
    complain("rank " + std::to_string(missing) +
             " has no library of Muster " MUSTER_VERSION "; expected it on all ranks");
  }
  return false;
}

}  // namespace muster::mpi
