#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <muster/wire/board.hpp>
#include <muster/wire/fabric.hpp>

#include "transports/cluster/job.hpp"
#include "transports/cluster/membership.hpp"
#include "transports/cluster/news.hpp"
#include "transports/shm/arena.hpp"
#include "transports/shm/endpoint.hpp"
#include "transports/shm/node_memory.hpp"
#include "transports/shm/shared_allocations.hpp"
#include "transports/shm/team_memory.hpp"
#include "transports/stream/connections.hpp"
#include "transports/stream/links.hpp"
#include "transports/stream/remote_ranks.hpp"

namespace muster::cluster {

/// What all fabrics of one rank of a job on several machines have in common: its memory on its
/// machine, and its ways to others.
class rank_memory {
public:
  /// \param of     outlives this
  /// \param others reaches no rank of this machine
  rank_memory(const job& of, std::size_t rank, std::unique_ptr<stream::remote_ranks> others);
  rank_memory(const rank_memory&) = delete;
  rank_memory& operator=(const rank_memory&) = delete;

  /// Breaks the job on other machines, as it is on this one. The engine is not driven any more.
  void tell_failure(const wire::failure& why) noexcept { news_.tell_job_failure(why); }
  /// Tells that this rank leaves, and sends what waits. The engine is not driven any more.
  void leave() noexcept;
  wire::traffic traffic() const noexcept { return others_->traffic(); }

private:
  friend class fabric;

  const job& job_;
  std::size_t rank_;
  shm::arena buffers_;
  shm::shared_allocations boards_;
  shm::shared_allocations controls_;
  shm::endpoint here_;
  std::unique_ptr<stream::remote_ranks> others_;
  newsroom news_;
  stream::connections connections_;
  std::uint32_t teams_ = 0;  // that this rank has given a number
};

/// One rank's reach to the others of a team on several machines: memory to those of its own, a
/// network to the others.
class fabric final : public wire::fabric {
public:
  /// Of the team of all ranks. \param own outlives the fabric and those derived from it
  explicit fabric(rank_memory& own);
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
  wire::traffic traffic() const noexcept override { return own_.traffic(); }
  /// See `membership::tell_before_leaving`.
  void tell_before_leaving() noexcept { membership_.tell_before_leaving(); }

private:
  fabric(rank_memory& own, shm::team_view in);

  shm::team_lots find_allocations(std::span<const std::size_t> members,
                                  std::span<const wire::memory_handle> handles) const noexcept;
  /// Those of `members`, by place among them, that are on this machine.
  std::vector<std::size_t> local_peers(std::span<const std::size_t> members) const;

  rank_memory& own_;
  std::vector<std::size_t> members_;  // ranks of the job
  std::vector<std::size_t> here_;     // those of them on this machine
  std::vector<std::size_t> places_;   // of those, among all of this machine
  shm::team_memory shared_;
  std::byte* board_allocation_;
  shm::node_memory memory_;
  stream::links links_;
  membership membership_;
};

}  // namespace muster::cluster
