#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <muster/team/machine.hpp>
#include <muster/team/shape.hpp>

#include "transports/shm/job.hpp"

namespace muster::cluster {

/// A job on several machines, as the ranks of one of them know it: who is where, and the memory
/// that those of this machine share.
class job {
public:
  /// \param here   of the ranks of this machine
  /// \param places of all ranks; those of one machine have the same node
  /// \param node   this machine's
  /// \param all    the same on all ranks
  /// \param neighbors ranks of other machines that these only seem to be: they share this one's
  ///                   processors, as containers do
  job(shm::job here, std::vector<place> places, std::uint32_t node, const muster::machine& all,
      std::size_t neighbors = 0);

  std::size_t size() const noexcept { return shape_.size(); }
  const muster::shape& shape() const noexcept { return shape_; }
  const muster::machine& machine() const noexcept { return machine_; }
  /// Of the ranks of this machine, which it knows by their place among them.
  const shm::job& here() const& noexcept { return here_; }
  shm::job here() && noexcept { return std::move(here_); }
  std::span<const std::size_t> ranks_here() const noexcept { return shape_.ranks_of(node_); }
  bool is_here(std::size_t rank) const noexcept { return shape_.node_of(rank) == node_; }
  /// For the ranks of this machine.
  std::size_t processors_here() const noexcept { return processors_here_; }
  /// A rank's place among those of its machine.
  std::size_t place_of(std::size_t rank) const noexcept { return shape_.index_of(rank); }

private:
  shm::job here_;
  muster::shape shape_;
  muster::machine machine_;
  std::size_t node_;  // in the shape
  std::size_t processors_here_;
};

}  // namespace muster::cluster
