#include "transports/shm/links.hpp"

#include <muster/base/copy_bytes.hpp>

#include "transports/shm/node_memory.hpp"

namespace muster::shm {

// ---- links

wire::link& links::open(std::size_t lane, std::size_t peer, sends what) {
  if (links_.size() <= lane) links_.resize(lane + 1);
  auto& of_lane = links_[lane];
  if (of_lane.empty()) of_lane.resize(members_.size());
  std::unique_ptr<link>& one = of_lane[peer];
  if (one == nullptr) one = std::make_unique<link>(*this, lane, peer);
  if (what == sends::nothing) return *one;
  const stream carried = what == sends::messages ? stream::messages : stream::invitations;
  link::writer& out = one->to_peer_[static_cast<std::size_t>(carried)];
  if (!out) out.emplace(parking_, shared_.ring_of(rings_, number(lane, carried), rank_, peer));
  return *one;
}

// ---- one of them

ring_reader* link::from_peer(stream what) const noexcept {
  reader& in = from_peer_[static_cast<std::size_t>(what)];
  if (!in) {
    ring* const from =
        of_.shared_.find_ring(of_.rings_, links::number(lane_, what), peer_, of_.rank_);
    if (from == nullptr) return nullptr;
    in.emplace(of_.parking_, *from);
  }
  return &*in;
}

bool link::has_room(std::size_t bytes) const noexcept {
  return to_peer(stream::messages).has_room(bytes);
}

void link::send(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  to_peer(stream::messages).write(head, body);
}

bool link::is_invited() const noexcept {
  const ring_reader* const in = from_peer(stream::invitations);
  return in != nullptr && in->holds(1);
}

void link::peek_invitation(std::span<std::byte> head) const noexcept {
  from_peer(stream::invitations)->peek(head);
}

void link::take_invitation(std::span<std::byte> head) noexcept {
  from_peer(stream::invitations)->take(head);
}

bool link::can_put() const noexcept {
  return to_peer(stream::messages).has_room(most_head + sizeof(std::uint64_t));
}

void link::put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(body.data());
  to_peer(stream::messages).write(head, std::as_bytes(std::span(&address, 1)));
  lent_until_ = to_peer(stream::messages).written();
}

bool link::has_left() const noexcept { return to_peer(stream::messages).has_taken(lent_until_); }

bool link::was_refused() const noexcept {
  return to_peer(stream::messages).was_refused(lent_until_);
}

bool link::can_post() const noexcept { return to_peer(stream::invitations).has_room(most_head); }

void link::post(std::span<const std::byte> head, std::span<std::byte>) noexcept {
  to_peer(stream::invitations).write(head, {});
}

bool link::holds(std::size_t bytes) const noexcept {
  const ring_reader* const in = from_peer(stream::messages);
  return in != nullptr && in->holds(bytes);
}

void link::peek(std::span<std::byte> head) const noexcept {
  from_peer(stream::messages)->peek(head);
}

void link::take(std::span<std::byte> to) noexcept { from_peer(stream::messages)->take(to); }

void link::begin_taking(std::span<std::byte> place) noexcept {
  ring_reader& in = *from_peer(stream::messages);
  std::uint64_t address = 0;
  in.peek(std::as_writable_bytes(std::span(&address, 1)));
  int refused = 0;
  if (of_.job_.one_process()) {
    copy_bytes(place.data(), reinterpret_cast<const std::byte*>(address), place.size());
  } else {
    refused = copy_from_process(of_.job_, of_.members_[peer_], address, place);
  }
  body_ = refused == 0 ? body_state::in_place : body_state::refused;
  in.pass(sizeof address, refused == 0);
}

}  // namespace muster::shm
