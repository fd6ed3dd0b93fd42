#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <muster/wire/board.hpp>
#include <muster/wire/fabric.hpp>

#include "transports/shm/arena.hpp"
#include "transports/shm/endpoint.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/membership.hpp"
#include "transports/shm/node_memory.hpp"
#include "transports/shm/parking.hpp"
#include "transports/shm/shared_allocations.hpp"
#include "transports/shm/team_memory.hpp"
#include "transports/stream/connections.hpp"
#include "transports/stream/links.hpp"

namespace muster::shm {

/// One rank's reach to the others of a team over shared memory. Ranks of different (made-up) nodes
/// share no board and reach each other through links alone.
class fabric final : public wire::fabric {
public:
  /// Of the team of all ranks.
  /// \param of   the job; outlives the fabric and those derived from it
  /// \param rank a rank of it that lives in this process
  fabric(const job& of, std::size_t rank);
  ~fabric() override;
  fabric(const fabric&) = delete;
  fabric& operator=(const fabric&) = delete;

  wire::memory_handle provide(std::span<const std::size_t> members, std::size_t turn,
                              const wire::extent& much) override;
  void withdraw(const wire::memory_handle& provided) noexcept override;
  std::unique_ptr<wire::fabric> derive(std::span<const std::size_t> members,
                                       std::span<const wire::memory_handle> handles,
                                       const wire::extent& much) override;
  void refuse(std::span<const std::size_t> members, std::span<const wire::memory_handle> handles,
              const wire::extent& much, const wire::failure& why) noexcept override;
  wire::footprint footprint() const noexcept override;

private:
  /// What the fabrics of one rank have in common.
  struct rank_memory {
    rank_memory(const job& of, std::size_t rank);

    arena buffers;
    shared_allocations boards;
    shared_allocations controls;
    std::vector<std::size_t> all;  ///< ranks of the job
    endpoint here;
    stream::connections connections;
    std::uint32_t teams = 0;  ///< that this rank has given a number
  };
  fabric(const job& of, std::size_t rank, std::shared_ptr<rank_memory> own, team_view in);

  team_lots find_allocations(std::span<const std::size_t> members,
                             std::span<const wire::memory_handle> handles) const noexcept;
  /// Those of `members`, by place among them, that share this rank's node.
  std::vector<std::size_t> local_peers(std::span<const std::size_t> members) const;

  std::byte* node_base() const noexcept { return job_.node_base(job_.shape().node_of(rank_)); }

  const job& job_;
  std::size_t rank_;                  // of the job
  std::vector<std::size_t> members_;  // ranks of the job
  std::vector<std::size_t> node_;     // those of them on this rank's node
  std::shared_ptr<rank_memory> own_;
  team_memory shared_;
  std::byte* board_allocation_;
  node_memory memory_;
  stream::links links_;
  membership membership_;
};

}  // namespace muster::shm
