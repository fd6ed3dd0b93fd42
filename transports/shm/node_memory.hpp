#pragma once

#include <cstddef>
#include <span>

#include <muster/wire/node_memory.hpp>

#include "transports/shm/arena.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/parking.hpp"

namespace muster::shm {

/// A team's part of a node's segment, as one of its ranks uses it.
class node_memory final : public wire::node_memory {
public:
  /// A rank, and the team's members that it reaches. All outlive this.
  struct owner {
    const job& of;
    std::size_t rank;                      ///< of the job
    std::span<const std::size_t> members;  ///< of the team, as ranks of the job
    std::span<const std::size_t> node;     ///< those of them that share the rank's node
    arena& buffers;
    const shm::parking& parking;
  };
  node_memory(const owner& whose, const wire::board& board) noexcept
      : wire::node_memory(board, whose.parking.watched_where_fences_are_rare()),
        owner_(whose),
        base_(whose.of.node_base(whose.of.shape().node_of(whose.rank))),
        mine_(whose.of.line(whose.rank)) {}

  wire::origin lend(std::span<const std::byte> bytes, bool foreign) const noexcept override;
  const std::byte* borrow(const wire::origin& from) const noexcept override;
  int fetch(std::size_t local_peer, const wire::origin& from, std::size_t offset,
            std::span<std::byte> to) noexcept override;
  void begin_reading() noexcept override;
  void end_reading() noexcept override;
  void settle() noexcept override;
  std::span<std::byte> allocate(std::size_t bytes, use) override {
    return owner_.buffers.allocate(bytes);
  }
  void deallocate(std::span<std::byte> memory) noexcept override {
    owner_.buffers.deallocate(memory);
  }

private:
  void announce_and_wake(wire::counter& word, std::uint64_t value) noexcept override {
    owner_.parking.announce(word, value);
  }

  owner owner_;
  std::byte* base_;
  rank_line& mine_;
};

/// Copies from memory of a rank's process. Returns 0, or the system's error number where it
/// refuses.
[[nodiscard]] int copy_from_process(const job& of, std::size_t rank, std::uint64_t address,
                                    std::span<std::byte> to) noexcept;

}  // namespace muster::shm
