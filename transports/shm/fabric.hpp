#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>

#include "engine/wire/board.hpp"
#include "engine/wire/fabric.hpp"
#include "transports/shm/arena.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/ring.hpp"

namespace muster::shm {

/// One rank's reach to the others over shared memory. Ranks of different (made-up) nodes share no
/// board and reach each other through rings alone.
class fabric final : public wire::fabric {
public:
  /// \param of   the job; outlives the fabric
  /// \param rank a rank of it that lives in this process
  fabric(const job& of, std::size_t rank);

  void announce(wire::counter& word, std::uint64_t value) noexcept override;
  wire::origin lend(std::span<const std::byte> bytes, bool foreign) const noexcept override;
  const std::byte* borrow(const wire::origin& from) const noexcept override;
  int fetch(std::size_t rank, const wire::origin& from, std::size_t offset,
            std::span<std::byte> to) noexcept override;
  wire::channel& open(std::size_t lane, std::size_t from, std::size_t to) override;
  void close(wire::channel&) noexcept override {}
  void begin_reading() noexcept override;
  void end_reading() noexcept override;
  void settle() noexcept override;
  std::span<std::byte> allocate(std::size_t bytes) override { return arena_.allocate(bytes); }
  void deallocate(std::span<std::byte> memory) noexcept override { arena_.deallocate(memory); }
  wire::liveness state(std::size_t rank) const noexcept override;
  std::optional<wire::failure> failed() const override { return job_.failed(); }
  void fail(const wire::failure& why) noexcept override { job_.fail(why); }

  void arm() noexcept override;
  void disarm() noexcept override;

private:
  void wake_watchers() noexcept;
  void rare_fence() const noexcept;
  void frequent_fence() const noexcept;

  const job& job_;
  std::size_t rank_;
  std::byte* node_base_;
  arena arena_;
  std::unordered_map<std::size_t, ring_channel> channels_;  // made on first use
  rank_line& mine_;
  bool asymmetric_fence_;
};

}  // namespace muster::shm
