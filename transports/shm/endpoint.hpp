#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transports/shm/job.hpp"
#include "transports/shm/parking.hpp"
#include "transports/shm/ring_connection.hpp"
#include "transports/stream/connections.hpp"

namespace muster::shm {

/// A rank's way to the ranks of its machine: rings, and the doorbell that wakes it.
class endpoint final : public stream::endpoint {
public:
  /// \param of    outlives this
  /// \param rank  this one, of the job
  /// \param known the job's ranks, as they are known to those who connect; outlive this
  endpoint(const job& of, std::size_t rank, std::span<const std::size_t> known);
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  const shm::parking& parking() const noexcept { return parking_; }

  bool reaches(std::size_t rank) const noexcept override;
  std::unique_ptr<stream::connection> connect(stream::connections& of, std::size_t rank) override;
  bool progress(stream::connections& of) noexcept override;
  void arm() noexcept override;
  void disarm() noexcept override { parking_.disarm(); }

private:
  void find_new(stream::connections& of);

  const job& job_;
  std::size_t rank_;  // of the job
  std::span<const std::size_t> known_;
  rank_line& mine_;
  shm::parking parking_;
  std::vector<ring_connection*> all_;       // those that were made
  std::vector<stream::connection*> heard_;  // those whose peers have said something
  std::uint32_t heard_of_ = 0;              // how many those are
};

}  // namespace muster::shm
