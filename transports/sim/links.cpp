#include "transports/sim/links.hpp"

#include <utility>

#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"
#include "transports/sim/team.hpp"

namespace muster::sim {

// ---- links

wire::link& links::open(std::size_t lane, std::size_t peer, purpose) {
  link& one = in_.make_link();
  one.begin({.lane = lane,
             .self = rank_.number(),
             .peer = shared_ == nullptr ? peer : shared_->members()[peer],
             .team = shared_ == nullptr ? 0 : shared_->number()});
  return one;
}

void links::close(wire::link& used, purpose) noexcept { in_.free_link(static_cast<link&>(used)); }

// ---- one of them

void link::end() noexcept {
  for (auto* side : {&to_peer_, &from_peer_}) {
    for (channel*& each : *side) {
      if (each != nullptr) in_.close(*std::exchange(each, nullptr));
    }
  }
}

channel& link::opened(channel*& one, const channel::pair& of) const {
  if (one == nullptr) one = &in_.open(of);
  return *one;
}

channel& link::to_peer(wire::coming what) const {
  const auto& [lane, self, peer, team] = ends_;
  return opened(to_peer_[static_cast<std::size_t>(what)], {lane, self, peer, team, what});
}

channel& link::from_peer(wire::coming what) const {
  const auto& [lane, self, peer, team] = ends_;
  return opened(from_peer_[static_cast<std::size_t>(what)], {lane, peer, self, team, what});
}

bool link::has_room(std::size_t bytes) const noexcept {
  return to_peer(wire::coming::message).has_room(bytes);
}
void link::send(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  to_peer(wire::coming::message).put(head, body);
}
bool link::is_invited() const noexcept { return from_peer(wire::coming::invitation).holds(1); }
void link::peek_invitation(std::span<std::byte> head) const noexcept {
  from_peer(wire::coming::invitation).peek(head);
}
void link::take_invitation(std::span<std::byte> head) noexcept {
  from_peer(wire::coming::invitation).take(head);
}
bool link::can_put() const noexcept { return to_peer(wire::coming::message).has_room(most_head); }
void link::put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  to_peer(wire::coming::message).put_zero_copy(head, body);
}
bool link::has_left() const noexcept { return to_peer(wire::coming::message).has_left(); }
bool link::can_post() const noexcept {
  return to_peer(wire::coming::invitation).has_room(most_head);
}
void link::post(std::span<const std::byte> head, std::span<std::byte>) noexcept {
  to_peer(wire::coming::invitation).put(head, {});
}
bool link::holds(std::size_t bytes) const noexcept {
  return from_peer(wire::coming::message).holds(bytes);
}
void link::peek(std::span<std::byte> head) const noexcept {
  from_peer(wire::coming::message).peek(head);
}
void link::take(std::span<std::byte> to) noexcept { from_peer(wire::coming::message).take(to); }

}  // namespace muster::sim
