#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/wire/link.hpp>

#include "transports/sim/channel.hpp"

namespace muster::sim {

class rank;
class simulation;
class team_memory;

/// A link of a simulated rank: a channel for each direction and kind, open as long as it is.
class link final : public wire::link {
public:
  explicit link(simulation& in) noexcept : in_(in) {}

  /// From one rank of the job to another, in a lane of a team.
  struct ends {
    std::size_t lane;
    std::size_t self;
    std::size_t peer;
    std::uint64_t team;  ///< its number; 0: the job's
  };
  void begin(const ends& of) noexcept { ends_ = of; }
  void end() noexcept;

  bool has_room(std::size_t bytes) const noexcept override;
  void send(std::span<const std::byte> head, std::span<const std::byte> body) noexcept override;
  bool is_invited() const noexcept override;
  void peek_invitation(std::span<std::byte> head) const noexcept override;
  void take_invitation(std::span<std::byte> head) noexcept override;
  bool can_put() const noexcept override;
  void put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept override;
  bool has_left() const noexcept override;
  bool was_refused() const noexcept override { return false; }
  bool can_post() const noexcept override;
  void post(std::span<const std::byte> head, std::span<std::byte> place) noexcept override;
  bool holds(std::size_t bytes) const noexcept override;
  void peek(std::span<std::byte> head) const noexcept override;
  void take(std::span<std::byte> to) noexcept override;
  void begin_taking(std::span<std::byte> place) noexcept override { take(place); }
  body_state body() const noexcept override { return body_state::in_place; }
  void listen(wire::coming what, wire::listener& who) noexcept override {
    from_peer(what).listeners().add(who);
  }
  void ignore(wire::coming what, const wire::listener& who) noexcept override {
    from_peer(what).listeners().remove(who);
  }

private:
  channel& to_peer(wire::coming what) const;
  channel& from_peer(wire::coming what) const;
  channel& opened(channel*& one, const channel::pair& of) const;

  simulation& in_;
  ends ends_{};
  // By kind; null until used.
  mutable std::array<channel*, kinds_of_channel> to_peer_{};
  mutable std::array<channel*, kinds_of_channel> from_peer_{};
};

/// A simulated rank's links to the members of a team.
class links final : public wire::links {
public:
  /// \param shared null: the team is the job's
  links(simulation& in, const rank& of, const team_memory* shared) noexcept
      : in_(in), rank_(of), shared_(shared) {}

  wire::link& open(std::size_t lane, std::size_t peer, purpose what) override;
  void close(wire::link& used, purpose what) noexcept override;
  /// Bodies come into their places when they are taken.
  void withdraw() noexcept override {}

private:
  simulation& in_;
  const rank& rank_;
  const team_memory* shared_;
};

}  // namespace muster::sim
