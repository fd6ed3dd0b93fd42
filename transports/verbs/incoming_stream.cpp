#include "transports/verbs/incoming_stream.hpp"

#include <algorithm>
#include <cstring>

#include <muster/base/copy_bytes.hpp>

#include "transports/stream/frame.hpp"

namespace muster::verbs {

// A ring's length before what is next, and one behind it: a notice's position stands for one place
// alone.
std::uint64_t incoming_stream::position_of(const notice& what) const noexcept {
  constexpr std::uint64_t turn = notice::positions * notice::unit;
  const std::uint64_t lowest = begin_ - in_.capacity;  // below 0 at first, modulo the same
  const std::uint64_t beyond = (what.position * notice::unit - lowest) % turn;
  return lowest + beyond;
}

bool incoming_stream::is_sane(const packet& one) const noexcept {
  if (one.bytes == 0 || sizeof(packet_head) + one.bytes > one.length) return false;
  if (one.gap >= in_.capacity) return false;
  std::size_t at = 0;
  while (at + sizeof(stream::frame) <= one.bytes) {
    stream::frame next;
    std::memcpy(&next, in_.at(one.at) + sizeof(packet_head) + at, sizeof next);
    if (next.bytes > one.bytes - at - sizeof next) return false;
    at += sizeof next + next.bytes;
  }
  return at == one.bytes;
}

std::optional<packet_head> incoming_stream::note(const notice& what) {
  const std::uint64_t at = position_of(what);
  const std::uint32_t length = what.length * static_cast<std::uint32_t>(notice::unit);
  const std::size_t to_end = in_.capacity - at % in_.capacity;
  if (length < sizeof(packet_head) || length > to_end) return std::nullopt;
  packet_head head;
  std::memcpy(&head, in_.at(at), sizeof head);
  const bool is_repeated = at - begin_ >= in_.capacity;  // more ahead than there can be
  if (is_repeated) return head;
  const packet one{at, length, head.gap, head.bytes};
  if (!is_sane(one)) return std::nullopt;
  put_in_order(one);
  return head;
}

void incoming_stream::put_in_order(const packet& one) {
  if (one.at < order_end_) return;  // it had come
  const auto after = std::ranges::lower_bound(ahead_, one.at, {}, &packet::at);
  if (after != ahead_.end() && after->at == one.at) return;
  if (one.at - one.gap != order_end_) {
    ahead_.insert(after, one);
    return;
  }
  in_order_.push(one);
  order_end_ = one.at + one.length;
  std::size_t joined = 0;
  for (; joined < ahead_.size(); ++joined) {
    const packet& next = ahead_[joined];
    if (next.at - next.gap != order_end_) break;
    in_order_.push(next);
    order_end_ = next.at + next.length;
  }
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(joined));
}

void incoming_stream::clear() noexcept {
  in_order_.clear();
  ahead_.clear();
  left_ = 0;
}

std::size_t incoming_stream::unread() noexcept {
  if (left_ != 0 || in_order_.empty()) return left_;
  taking_ = in_order_.front();
  in_order_.pop();
  next_ = taking_.at + sizeof(packet_head);
  left_ = taking_.bytes;
  return left_;
}

void incoming_stream::peek(std::span<std::byte> to) const noexcept {
  copy_bytes(to.data(), in_.at(next_), to.size());
}

void incoming_stream::skip(std::size_t bytes) noexcept {
  next_ += bytes;
  left_ -= bytes;
  if (left_ == 0) begin_ = taking_.at + taking_.length;
}

std::vector<std::uint64_t> incoming_stream::arrived() const {
  std::vector<std::uint64_t> all;
  if (left_ != 0) all.push_back(taking_.at);
  for (std::size_t i = 0; i < in_order_.size(); ++i) all.push_back(in_order_.at(i).at);
  for (const packet& each : ahead_) all.push_back(each.at);
  return all;
}

}  // namespace muster::verbs
