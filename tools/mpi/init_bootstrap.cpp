#include "tools/mpi/init_bootstrap.hpp"

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

namespace muster::mpi {
namespace {

constexpr int tag = 0;

std::size_t own_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return static_cast<std::size_t>(rank);
}

std::vector<std::size_t> all_ranks() {
  int size = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<std::size_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

std::size_t parent_in_tree(std::size_t rank) noexcept { return rank & (rank - 1); }

std::size_t end_below(std::size_t rank, std::size_t size) noexcept {
  return rank == 0 ? size : std::min(size, rank + (rank & (~rank + 1)));
}

std::vector<std::size_t> children_in_tree(std::size_t rank, std::size_t size) {
  std::vector<std::size_t> all;
  const std::size_t end = end_below(rank, size);
  for (std::size_t step = 1; rank + step < end; step *= 2) all.push_back(rank + step);
  return all;
}

void tell(std::size_t rank, std::span<const std::byte> what, way_to_wait wait) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Isend(what.data(), static_cast<int>(what.size()), MPI_BYTE, static_cast<int>(rank), tag,
             MPI_COMM_WORLD, &request);
  wait(request);
}

void hear(std::size_t rank, std::span<std::byte> what, way_to_wait wait) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Irecv(what.data(), static_cast<int>(what.size()), MPI_BYTE, static_cast<int>(rank), tag,
             MPI_COMM_WORLD, &request);
  wait(request);
}

init_bootstrap::init_bootstrap() : init_bootstrap(all_ranks(), wait_patiently) {}

init_bootstrap::init_bootstrap(std::vector<std::size_t> ranks, way_to_wait how)
    : ranks_(std::move(ranks)),
      rank_(static_cast<std::size_t>(std::ranges::find(ranks_, own_rank()) - ranks_.begin())),
      wait_(how) {}

void init_bootstrap::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  const auto from = [&](std::size_t rank) {
    return all.subspan(rank * mine.size(), (end_below(rank, size()) - rank) * mine.size());
  };
  std::ranges::copy(mine, from(rank_).begin());
  const std::vector<std::size_t> children = children_in_tree(rank_, size());
  for (const std::size_t child : children) hear(ranks_[child], from(child), wait_);
  if (rank_ != 0) {
    const std::size_t parent = ranks_[parent_in_tree(rank_)];
    tell(parent, from(rank_), wait_);
    hear(parent, all, wait_);
  }
  // The one with most below it first.
  for (const std::size_t child : children | std::views::reverse) tell(ranks_[child], all, wait_);
}

}  // namespace muster::mpi
