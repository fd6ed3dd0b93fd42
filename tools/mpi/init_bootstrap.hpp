// What processes that are all in MPI_Init say to each other: by messages of the MPI along a
// binomial tree, so that each needs a connection to few others. A collective call of the MPI may
// have each connect to all.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <muster/team/bootstrap.hpp>

#include "tools/mpi/patient_wait.hpp"

namespace muster::mpi {

/// The tree has rank 0 at its root; below a rank are those that follow it.
std::size_t parent_in_tree(std::size_t rank) noexcept;
std::vector<std::size_t> children_in_tree(std::size_t rank, std::size_t size);
/// The first rank that is neither `rank` nor below it, or their number.
std::size_t end_below(std::size_t rank, std::size_t size) noexcept;

/// Between processes that are both in MPI_Init: nothing else from there can come before it.
/// \param rank of MPI_COMM_WORLD
void tell(std::size_t rank, std::span<const std::byte> what, way_to_wait wait = wait_patiently);
void hear(std::size_t rank, std::span<std::byte> what, way_to_wait wait = wait_patiently);

/// Some ranks of MPI_COMM_WORLD, from the beginning of this process's part in MPI_Init to its end.
class init_bootstrap final : public bootstrap {
public:
  /// All ranks.
  init_bootstrap();
  /// \param ranks ascending, this process's own among them
  init_bootstrap(std::vector<std::size_t> ranks, way_to_wait how);

  /// From now on.
  void wait_by(way_to_wait how) noexcept { wait_ = how; }

  std::size_t rank() const noexcept override { return rank_; }
  std::size_t size() const noexcept override { return ranks_.size(); }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;

private:
  std::vector<std::size_t> ranks_;
  std::size_t rank_;
  way_to_wait wait_;
};

}  // namespace muster::mpi
