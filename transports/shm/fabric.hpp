#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <muster/wire/board.hpp>
#include <muster/wire/fabric.hpp>

#include "transports/shm/arena.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/lots.hpp"
#include "transports/shm/ring.hpp"
#include "transports/shm/team_memory.hpp"

namespace muster::shm {

/// One rank's reach to the others of a team over shared memory. Ranks of different (made-up) nodes
/// share no board and reach each other through rings alone.
class fabric final : public wire::fabric {
public:
  /// Of the team of all ranks.
  /// \param of   the job; outlives the fabric and those derived from it
  /// \param rank a rank of it that lives in this process
  fabric(const job& of, std::size_t rank);
  ~fabric() override;
  fabric(const fabric&) = delete;
  fabric& operator=(const fabric&) = delete;

  void announce(wire::counter& word, std::uint64_t value) noexcept override;
  wire::origin lend(std::span<const std::byte> bytes, bool foreign) const noexcept override;
  const std::byte* borrow(const wire::origin& from) const noexcept override;
  int fetch(std::size_t rank, const wire::origin& from, std::size_t offset,
            std::span<std::byte> to) noexcept override;
  wire::channel& open(std::size_t lane, std::size_t from, std::size_t to,
                      wire::stream what) override;
  void close(wire::channel&) noexcept override {}
  void begin_reading() noexcept override;
  void end_reading() noexcept override;
  void settle() noexcept override;
  std::span<std::byte> allocate(std::size_t bytes, memory_use) override {
    return own_->buffers.allocate(bytes);
  }
  void deallocate(std::span<std::byte> memory) noexcept override {
    own_->buffers.deallocate(memory);
  }
  wire::liveness state(std::size_t rank) const noexcept override;
  /// What is in memory is there for everybody.
  bool all_heard(std::size_t) const noexcept override { return true; }
  std::optional<wire::failure> failed() const override;
  void fail(const wire::failure& why) noexcept override;

  wire::site provide(std::span<const std::size_t> members, std::size_t turn,
                     const wire::extent& much) override;
  void withdraw(const wire::site& provided) noexcept override;
  std::unique_ptr<wire::fabric> derive(std::span<const std::size_t> members,
                                       std::span<const wire::site> sites,
                                       const wire::extent& much) override;
  void refuse(std::span<const std::size_t> members, std::span<const wire::site> sites,
              const wire::extent& much, const wire::failure& why) noexcept override;
  wire::footprint footprint() const noexcept override;

  void arm() noexcept override;
  void disarm() noexcept override;

private:
  /// What the fabrics of one rank have in common.
  struct rank_memory {
    arena buffers;
    lots boards;
    lots controls;
  };
  /// A team, as one of its ranks sees it.
  struct membership {
    std::vector<std::size_t> members;  ///< ranks of the job, in the team's order
    team_memory shared;
    wire::board board;
    std::byte* board_lot;  ///< to leave at the end; null for the team of the job
  };
  fabric(const job& of, std::size_t rank, std::shared_ptr<rank_memory> own, membership in);

  /// Where the memory of a team in the making is that its members have provided.
  struct lots_of_team {
    std::byte* control;
    std::byte* board;
  };
  lots_of_team find_lots(std::span<const std::size_t> members,
                         std::span<const wire::site> sites) const noexcept;
  /// Those of `members`, by place among them, that share this rank's node.
  std::vector<std::size_t> local_peers(std::span<const std::size_t> members) const;
  void wake_watchers() noexcept;
  void rare_fence() const noexcept;
  void frequent_fence() const noexcept;

  const job& job_;
  std::size_t rank_;                  // of the job
  std::vector<std::size_t> members_;  // ranks of the job
  std::shared_ptr<rank_memory> own_;
  team_memory shared_;
  std::byte* board_lot_;
  ring_pool rings_;
  std::byte* node_base_;
  std::unordered_map<std::size_t, ring_channel> channels_;  // made on first use
  rank_line& mine_;
  bool asymmetric_fence_;
};

}  // namespace muster::shm
