#include "transports/shm/connection.hpp"

#include <utility>

#include "transports/shm/connections.hpp"
#include "transports/shm/links.hpp"

namespace muster::shm {

connection::connection(connections& of, std::size_t peer) noexcept : of_(of), peer_(peer) {}

// ---- to the peer

bool connection::has_room(std::size_t bytes) noexcept {
  if (!out_) {
    const job& job = of_.of();
    out_.emplace(of_.parking(), job.ring_of(of_.rank(), peer_), job.ring_bytes());
    // First: whoever is woken by what is written must find it.
    job.connect(of_.rank(), peer_);
  }
  if (out_->has_room(sizeof(frame) + bytes)) return true;
  is_crowded_ = true;
  return false;
}

void connection::send(const frame& what, std::span<const std::byte> head,
                      std::span<const std::byte> body) noexcept {
  out_->write({std::as_bytes(std::span(&what, 1)), head, body});
}

void connection::owe(const frame& what, std::uint64_t count) {
  owed_.push_back({what, count});
  send_owed();
}

void connection::send_owed() {
  std::size_t sent = 0;
  for (; sent < owed_.size() && has_room(owed_[sent].what.bytes); ++sent) {
    const auto& [what, count] = owed_[sent];
    send(what, std::as_bytes(std::span(&count, 1)).first(what.bytes), {});
  }
  owed_.erase(owed_.begin(), owed_.begin() + static_cast<std::ptrdiff_t>(sent));
}

// ---- from the peer

bool connection::is_connected() noexcept {
  if (in_) return true;
  const job& job = of_.of();
  if (!job.is_connected(peer_, of_.rank())) return false;
  in_.emplace(of_.parking(), job.ring_of(peer_, of_.rank()), job.ring_bytes());
  return true;
}

bool connection::pull() {
  if (!owed_.empty()) send_owed();
  if (!is_connected()) return false;
  // Somebody was about to take it, and is not any more.
  if (front_for_ != nullptr && !front_for_->is_receiving()) take_in_front();
  bool any = false;
  while (front_for_ == nullptr && open_next()) any = true;
  in_->give_back();
  return any;
}

bool connection::open_next() {
  if (in_->unread() == 0) return false;
  frame next;
  in_->peek(std::as_writable_bytes(std::span(&next, 1)));
  in_->skip(sizeof next);
  deliver(next);
  return true;
}

void connection::deliver(const frame& next) {
  links* const team = of_.find(next.team);
  if (team == nullptr) {
    std::vector<std::byte> bytes(next.bytes);
    copy_out(bytes);
    of_.set_aside(next, std::move(bytes));
    return;
  }
  link& one = team->at(next.lane, next.from);
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

void connection::copy_out(std::span<std::byte> to) noexcept {
  in_->peek(to);
  in_->skip(to.size());
}

void connection::copy_out(const frame& next, link& to) {
  for (std::size_t left = next.bytes; left != 0;) {
    const std::span<std::byte> room = to.room_for(next, left);
    copy_out(room);
    left -= room.size();
  }
}

void connection::skip_front(std::size_t bytes) noexcept {
  in_->skip(bytes);
  left_ -= bytes;
  if (left_ != 0) return;
  front_for_ = nullptr;
  in_->give_back();
}

void connection::take_in_front() {
  link& one = *std::exchange(front_for_, nullptr);
  const auto bytes = static_cast<std::uint32_t>(std::exchange(left_, 0));
  const frame rest{.team = 0, .from = 0, .lane = 0, .what = frame::kind::message, .bytes = bytes};
  copy_out(rest, one);
  one.end_frame(rest);
}

void connection::forget(const link& one) noexcept {
  if (front_for_ == &one && !of_.of().is_inherited()) skip_front(left_);
}

}  // namespace muster::shm
