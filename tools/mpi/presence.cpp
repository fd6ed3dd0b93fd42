#include "tools/mpi/presence.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <muster/base/version.hpp>

namespace muster::mpi {
namespace {

/// What goes along the tree: a rank without a notice, and what the ranks below, or all, say of
/// themselves, which means nothing where one is missing.
void tell(std::size_t rank, std::size_t missing, std::span<const std::byte> said) {
  std::vector<std::byte> message(sizeof missing + said.size());
  std::memcpy(message.data(), &missing, sizeof missing);
  std::ranges::copy(said, message.begin() + sizeof missing);
  mpi::tell(rank, message);
}

std::size_t hear(std::size_t rank, std::span<std::byte> said) {
  std::size_t missing = 0;
  std::vector<std::byte> message(sizeof missing + said.size());
  mpi::hear(rank, message);
  std::memcpy(&missing, message.data(), sizeof missing);
  std::ranges::copy(message | std::views::drop(sizeof missing), said.begin());
  return missing;
}

/// This rank's neighbors in the tree that have a notice, and the first that has none.
struct neighbors_present {
  std::vector<std::size_t> children;
  bool parent = false;
  std::size_t missing;  ///< the number of ranks: none
};

neighbors_present look_for_neighbors(notice_board& board, std::size_t rank, std::size_t size) {
  neighbors_present found{.children = {}, .missing = size};
  const auto look = [&](std::size_t one) {
    const bool is_there = board.has_notice_of(one);
    if (!is_there) found.missing = std::min(found.missing, one);
    return is_there;
  };
  std::ranges::copy_if(children_in_tree(rank, size), std::back_inserter(found.children), look);
  found.parent = rank != 0 && look(parent_in_tree(rank));
  return found;
}

/// A rank without a notice; their number where there is none. Known to all that have one: who
/// misses its parent in the tree or a child knows it, and whoever is joined with it by others hears
/// of it.
/// \param all what each says of itself: at first this rank's own, then all of it if none is missing
std::size_t find_missing(notice_board& board, std::size_t rank, std::size_t size,
                         std::span<std::byte> all) {
  const std::size_t each = all.size() / size;
  const auto of_those_below = [&](std::size_t one) {
    return all.subspan(one * each, (end_below(one, size) - one) * each);
  };
  const neighbors_present near = look_for_neighbors(board, rank, size);
  std::size_t missing = near.missing;
  for (const std::size_t child : near.children) {
    missing = std::min(missing, hear(child, of_those_below(child)));
  }
  if (near.parent) {
    tell(parent_in_tree(rank), missing, of_those_below(rank));
    missing = hear(parent_in_tree(rank), all);
  }
  // The one with most below it first.
  for (const std::size_t child : near.children | std::views::reverse) tell(child, missing, all);
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

bool all_are_present(const init_bootstrap& world, notice_board* board, bool tells,
                     std::span<const std::byte> mine, std::span<std::byte> all) {
  std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(world.rank() * mine.size()));
  if (world.size() == 1) return true;
  if (board == nullptr) {
    if (tells && world.rank() == 0) {
      complain("the launcher has no way to tell which ranks have this library");
    }
    return false;
  }
  const std::size_t missing = find_missing(*board, world.rank(), world.size(), all);
  if (missing == world.size()) return true;
  if (tells && is_first_present(*board, world.rank())) {
    complain("rank " + std::to_string(missing) +
             " has no library of Muster " MUSTER_VERSION "; expected it on all ranks");
  }
  return false;
}

}  // namespace muster::mpi
