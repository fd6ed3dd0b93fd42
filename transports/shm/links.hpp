#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <muster/wire/link.hpp>

#include "transports/shm/job.hpp"
#include "transports/shm/parking.hpp"
#include "transports/shm/ring.hpp"
#include "transports/shm/team_memory.hpp"

namespace muster::shm {

class links;

/// A link through rings: one for each direction and stream, taken when it is first used.
///
/// What is put is not: memory of one machine is read by whoever wants it. The body's address goes
/// through the ring, and the receiver copies from there when it takes it.
class link final : public wire::link {
public:
  link(links& of, std::size_t lane, std::size_t peer) noexcept
      : of_(of), lane_(lane), peer_(peer) {}

  bool has_room(std::size_t bytes) const noexcept override;
  void send(std::span<const std::byte> head, std::span<const std::byte> body) noexcept override;
  bool is_invited() const noexcept override;
  void peek_invitation(std::span<std::byte> head) const noexcept override;
  void take_invitation(std::span<std::byte> head) noexcept override;
  bool can_put() const noexcept override;
  void put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept override;
  bool has_left() const noexcept override;
  bool was_refused() const noexcept override;
  bool can_post() const noexcept override;
  void post(std::span<const std::byte> head, std::span<std::byte> place) noexcept override;
  bool holds(std::size_t bytes) const noexcept override;
  void peek(std::span<std::byte> head) const noexcept override;
  void take(std::span<std::byte> to) noexcept override;
  void begin_taking(std::span<std::byte> place) noexcept override;
  body_state body() const noexcept override { return body_; }

private:
  friend class links;
  using reader = std::optional<ring_reader>;
  using writer = std::optional<ring_writer>;

  /// The peer's ring to this rank; null until the peer has taken one.
  ring_reader* from_peer(stream what) const noexcept;
  ring_writer& to_peer(stream what) noexcept { return *to_peer_[static_cast<std::size_t>(what)]; }
  const ring_writer& to_peer(stream what) const noexcept {
    return *to_peer_[static_cast<std::size_t>(what)];
  }

  links& of_;
  std::size_t lane_;
  std::size_t peer_;
  std::array<writer, streams> to_peer_;
  mutable std::array<reader, streams> from_peer_;
  std::uint64_t lent_until_ = 0;  // what was put is read until the receiver took so much
  body_state body_ = body_state::in_place;
};

/// A rank's links to the members of a team, whatever their node.
class links final : public wire::links {
public:
  /// \param of      outlives this
  /// \param members the team's, as ranks of the job; outlive this
  /// \param rank    this one, of the team
  links(const job& of, const team_memory& shared, std::span<const std::size_t> members,
        std::size_t rank, const parking& by) noexcept
      : job_(of),
        shared_(shared),
        rings_(of.rings()),
        members_(members),
        rank_(rank),
        parking_(by) {}

  wire::link& open(std::size_t lane, std::size_t peer, sends what) override;
  void close(wire::link&) noexcept override {}
  /// Receivers copy themselves.
  void withdraw() noexcept override {}

private:
  friend class link;
  static std::size_t number(std::size_t lane, stream what) noexcept {
    return lane * streams + static_cast<std::size_t>(what);
  }

  const job& job_;
  team_memory shared_;
  ring_pool rings_;
  std::span<const std::size_t> members_;
  std::size_t rank_;
  const parking& parking_;
  // By lane, then peer: made on first use.
  std::vector<std::vector<std::unique_ptr<link>>> links_;
};

}  // namespace muster::shm
