#include "tools/mpi/presence.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <muster/base/version.hpp>

#include "tools/mpi/init_bootstrap.hpp"

namespace muster::mpi {
namespace {

void tell_missing(std::size_t rank, std::size_t missing) {
  tell(rank, std::as_bytes(std::span(&missing, 1)));
}

std::size_t hear_missing(std::size_t rank) {
  std::size_t missing = 0;
  hear(rank, std::as_writable_bytes(std::span(&missing, 1)));
  return missing;
}

/// A rank without a notice; their number where there is none. Known to all that have one: who
/// misses its parent in the tree or a child knows it, and whoever is joined with it by others hears
/// of it.
std::size_t find_missing(notice_board& board, std::size_t rank, std::size_t size) {
  std::size_t missing = size;
  std::vector<std::size_t> below;
  for (const std::size_t child : children_in_tree(rank, size)) {
    if (board.has_notice_of(child)) {
      below.push_back(child);
    } else {
      missing = std::min(missing, child);
    }
  }
  for (const std::size_t child : below) missing = std::min(missing, hear_missing(child));
  if (rank != 0) {
    const std::size_t parent = parent_in_tree(rank);
    if (board.has_notice_of(parent)) {
      tell_missing(parent, missing);
      missing = hear_missing(parent);
    } else {
      missing = std::min(missing, parent);
    }
  }
  for (const std::size_t child : below) tell_missing(child, missing);
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
  const init_bootstrap world;
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
