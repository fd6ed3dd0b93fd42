#include "transports/stream/connection.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "transports/stream/connections.hpp"
#include "transports/stream/links.hpp"

namespace muster::stream {

// ---- to the peer

void connection::owe(const frame& what) {
  owed_.push_back({what, {}});
  send_owed();
}

void connection::owe_news(const frame& what, std::vector<std::byte> bytes) {
  owed_.push_back({what, std::move(bytes)});
  send_owed();
}

void connection::send_owed() {
  std::size_t sent = 0;
  for (; sent < owed_.size() && has_room(owed_[sent].what.bytes); ++sent) {
    send(owed_[sent].what, owed_[sent].bytes, {});
  }
  owed_.erase(owed_.begin(), owed_.begin() + static_cast<std::ptrdiff_t>(sent));
}

// ---- from the peer

bool connection::pull() {
  if (!owed_.empty()) send_owed();
  // Somebody was about to take it, and is not any more.
  if (front_for_ != nullptr && !front_for_->is_receiving()) take_in_front();
  bool any = false;
  while (front_for_ == nullptr && (body_left_ != 0 ? receive_body() : open_next())) any = true;
  give_back();
  return any;
}

bool connection::open_next() {
  frame next;
  const std::size_t here = unread();
  if (here < sizeof next) return false;
  peek(std::as_writable_bytes(std::span(&next, 1)));
  if (!is_sane(next)) {
    refuse(next);
    return false;
  }
  if (next.what != frame::kind::body && here < sizeof next + next.bytes) return false;
  skip(sizeof next);
  deliver(next);
  return true;
}

bool connection::is_sane(const frame& next) const noexcept {
  switch (next.what) {
    case frame::kind::message:
    case frame::kind::invitation:
      return next.bytes <= window();
    case frame::kind::news:
      return next.bytes <= most_news && of_.reader() != nullptr;
    case frame::kind::body:
      return fills_places() && !confirms_bodies();
    case frame::kind::consumed:
      return next.bytes == 0;
    case frame::kind::placed:
      return next.bytes == 0 && confirms_bodies();
    case frame::kind::refused:
      return next.bytes == 0 && !fills_places();
    case frame::kind::landed:
      return next.bytes == sizeof(landing) && token_bytes() != 0;
  }
  return false;
}

void connection::deliver(const frame& next) {
  if (next.what == frame::kind::news) return read_news(next);
  links* const team = of_.find(next.team);
  if (team != nullptr && !team->are_of(next, peer_)) return refuse(next);
  if (next.what == frame::kind::body) {
    body_for_ = team == nullptr ? nullptr : &team->at(next.lane, next.from);
    body_left_ = next.bytes;
    return;
  }
  if (team == nullptr) return set_aside(next);
  link& one = team->at(next.lane, next.from);
  if (!one.note_taken(next)) return refuse(next);
  if (next.what == frame::kind::landed) return read_landing(next, one);
  const bool is_wanted =
      next.what == frame::kind::message && one.is_receiving() && one.inbox_is_empty();
  if (is_wanted && next.bytes != 0) {
    front_for_ = &one;
    left_ = next.bytes;
  } else {
    copy_out(next, one);
  }
  one.end_frame(next);
}

void connection::read_news(const frame& next) {
  std::array<std::byte, most_news> bytes;
  const std::span<std::byte> read = std::span(bytes).first(next.bytes);
  peek(read);
  skip(read.size());
  of_.reader()->read(peer_, next, read);
}

void connection::read_landing(const frame& next, link& to) {
  landing what;
  peek(std::as_writable_bytes(std::span(&what, 1)));
  skip(sizeof what);
  if (!to.land(what)) refuse(next);
}

void connection::set_aside(const frame& next) {
  std::vector<std::byte> bytes(next.bytes);
  peek(bytes);
  skip(bytes.size());
  of_.set_aside(peer_, next, std::move(bytes));
}

void connection::copy_out(const frame& next, link& to) {
  for (std::size_t left = next.bytes; left != 0;) {
    const std::span<std::byte> room = to.room_for(next, left);
    peek(room);
    skip(room.size());
    left -= room.size();
  }
}

bool connection::receive_body() {
  std::array<std::byte, 4096> nowhere;
  const std::span<std::byte> place =
      body_for_ == nullptr ? std::span<std::byte>() : body_for_->place_for_body();
  const std::span<std::byte> to = place.empty() ? nowhere : place;
  const std::size_t got = receive(to.first(std::min(to.size(), body_left_)));
  if (!place.empty() && body_for_->fill(got)) note_filled();
  body_left_ -= got;
  return got != 0;
}

void connection::skip_front(std::size_t bytes) noexcept {
  skip(bytes);
  left_ -= bytes;
  if (left_ != 0) return;
  front_for_ = nullptr;
  give_back();
}

void connection::take_in_front() {
  link& one = *std::exchange(front_for_, nullptr);
  const auto bytes = static_cast<std::uint32_t>(std::exchange(left_, 0));
  const frame rest{
      .team = 0, .from = 0, .lane = 0, .what = frame::kind::message, .taken = 0, .bytes = bytes};
  copy_out(rest, one);
  one.end_frame(rest);
}

void connection::take_in() {
  do {
    if (front_for_ != nullptr) take_in_front();
  } while (pull());
}

bool connection::refuse_invitations(const frame& name) {
  links* const team = of_.find(name.team);
  if (team == nullptr) {
    of_.refuse_early_invitations(peer_, name);
    return true;
  }
  if (!team->are_of(name, peer_)) return false;
  team->at(name.lane, name.from).refuse_invitations();
  return true;
}

void connection::forget(link& one) noexcept {
  if (front_for_ == &one && !is_inherited()) skip_front(left_);
  if (body_for_ == &one) body_for_ = nullptr;
  withdraw(one);
}

}  // namespace muster::stream
