#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/mpi/messenger.hpp"

namespace muster::mpi {

/// The MPI's own messages, on a communicator of their own: whatever network the MPI has.
class mpi_messenger final : public messenger {
public:
  /// \param on for these alone; freed at the end
  explicit mpi_messenger(MPI_Comm on);
  ~mpi_messenger() override;
  mpi_messenger(const mpi_messenger&) = delete;
  mpi_messenger& operator=(const mpi_messenger&) = delete;

  std::uint32_t most_tag() const noexcept override { return most_tag_; }
  request send(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes) override;
  request put(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes) override;
  request receive(std::size_t from, std::uint32_t tag, std::span<std::byte> to) override;
  bool take_back(request receive) override;
  request begin_barrier() override;
  void give_up() noexcept override { is_alone_ = true; }
  std::span<const ended> look() override;

private:
  request keep(MPI_Request one);
  static ended end_of(request which, const MPI_Status& how);

  MPI_Comm on_ = MPI_COMM_NULL;
  bool is_alone_ = false;
  std::uint32_t most_tag_ = 0;
  std::vector<MPI_Request> requests_;  // by name; MPI_REQUEST_NULL: free
  std::vector<request> free_;
  std::vector<ended> told_;
  std::vector<ended> not_told_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace muster::mpi
