#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "transports/shm/job.hpp"
#include "transports/shm/parking.hpp"
#include "transports/shm/ring.hpp"
#include "transports/stream/connection.hpp"

namespace muster::shm {

/// A connection of two ranks of one machine: a ring in the control segment for each direction.
///
/// What is put does not go through it: memory of one machine is read by whoever wants it. The
/// body's address does, and the receiver copies from there when it takes it.
class ring_connection final : public stream::connection {
public:
  /// The two ends, as ranks of a job that outlives this.
  struct ends {
    const shm::job& of;
    std::size_t rank;
    std::size_t peer;
  };
  /// \param peer as a rank of all that `of` reaches
  /// \param by   outlives this
  ring_connection(stream::connections& of, std::size_t peer, const ends& between,
                  const shm::parking& by) noexcept
      : connection(of, peer), ends_(between), parking_(by) {}

  /// As a rank of the job.
  std::size_t local_peer() const noexcept { return ends_.peer; }
  /// Whether room has been looked for in vain since this was asked last.
  bool was_crowded() noexcept { return std::exchange(is_crowded_, false); }

  std::size_t window() const noexcept override { return ends_.of.ring_bytes(); }
  bool has_room(std::size_t bytes) noexcept override;
  void send(const stream::frame& what, std::span<const std::byte> head,
            std::span<const std::byte> body) noexcept override;
  /// All that was sent is there for the peer.
  bool has_sent_all() noexcept override { return true; }
  std::size_t put(stream::link& by, stream::frame what, std::span<const std::byte> head,
                  std::span<const std::byte> body) noexcept override;
  bool fills_places() const noexcept override { return false; }
  wire::link::body_state fetch(stream::link& to, const stream::frame& what,
                               std::span<std::byte> place) override;
  /// What was put is memory that is lent: `node_memory::settle` waits for its readers.
  void withdraw(stream::link&) noexcept override {}
  bool all_heard() noexcept override { return unread() == front(); }

private:
  bool is_inherited() const noexcept override { return ends_.of.is_inherited(); }
  std::size_t unread() noexcept override;
  void peek(std::span<std::byte> to) const noexcept override { in_->peek(to); }
  void skip(std::size_t bytes) noexcept override { in_->skip(bytes); }
  void give_back() noexcept override {
    if (in_) in_->give_back();
  }
  std::size_t receive(std::span<std::byte>) noexcept override { return 0; }
  /// Ranks of one machine trust each other: they can write anywhere in the job's memory.
  void refuse(const stream::frame&) noexcept override {}

  ends ends_;
  const shm::parking& parking_;
  std::optional<ring_writer> out_;  // once there is something to say
  std::optional<ring_reader> in_;   // once the peer has said something
  bool is_crowded_ = false;
};

}  // namespace muster::shm
