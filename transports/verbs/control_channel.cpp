#include "transports/verbs/control_channel.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <utility>

namespace muster::verbs {

bool control_channel::is_open() const noexcept {
  return std::ranges::any_of(ways_, [](const way& one) { return one.socket.is_open(); });
}

bool control_channel::is_readable() const noexcept {
  return std::ranges::any_of(ways_, [](const way& one) { return one.socket.is_readable(); });
}

void control_channel::open(std::size_t which, descriptor socket, tcp::registration watch) noexcept {
  close(which);
  way& one = ways_[which];
  one.socket.open(std::move(socket), std::move(watch));
  one.next = first_;  // some of it may have come by another
  has_ended_ = false;
  flush();
}

void control_channel::close(std::size_t which) noexcept {
  way& one = ways_[which];
  if (one.socket.is_open()) one.socket.close();
  one.socket.in().skip(one.socket.in().size());
  one.coming.clear();
  one.sent = 0;
}

void control_channel::close_all() noexcept {
  for (std::size_t i = 0; i < ways_.size(); ++i) close(i);
  has_ended_ = false;
}

// ---- to the peer

void control_channel::say(control::kind what, std::size_t subflow, std::span<const std::byte> bytes,
                          std::span<const std::byte> more) {
  const control head{.number = first_ + said_.size(),
                     .heard = heard_,
                     .what = what,
                     .subflow = static_cast<std::uint16_t>(subflow),
                     .bytes = static_cast<std::uint32_t>(bytes.size() + more.size())};
  told_ = heard_;
  if (said_.size() == most_unheard) {
    fault_ = fault::unheard;
    return;
  }
  std::vector<std::byte>& message = said_.emplace_back();
  for (const auto part : {std::as_bytes(std::span(&head, 1)), bytes, more}) {
    message.insert(message.end(), part.begin(), part.end());
  }
  flush();
}

bool control_channel::flush() noexcept {
  bool any_done = said_.empty();
  for (way& each : ways_) {
    if (!each.socket.is_open()) continue;
    send_by(each);
    any_done = any_done || each.next == first_ + said_.size();
  }
  return any_done;
}

void control_channel::send_by(way& one) noexcept {
  while (one.next != first_ + said_.size() && one.socket.is_writable()) {
    std::vector<std::byte>& message = said_[one.next - first_];
    const iovec part{message.data() + one.sent, message.size() - one.sent};
    one.sent += one.socket.send(std::span(&part, 1)).bytes;
    if (one.sent != message.size()) continue;
    one.sent = 0;
    ++one.next;
  }
}

// What a socket has begun to send it has to end.
void control_channel::drop_heard(std::uint64_t heard) noexcept {
  for (const way& each : ways_) {
    if (each.socket.is_open()) heard = std::min(heard, each.next);
  }
  for (; first_ < heard && !said_.empty(); ++first_) said_.pop_front();
}

// ---- from the peer

bool control_channel::fill(way& from, std::size_t bytes) {
  while (from.coming.size() < bytes) {
    const std::size_t had = from.coming.size();
    from.coming.resize(bytes);
    from.socket
        .expect_long();  // it is asked, and never brings: a connection may wait for an answer
    const std::size_t got = from.socket.take(std::span(from.coming).subspan(had));
    from.coming.resize(had + got);
    if (got == 0) return false;
  }
  return true;
}

bool control_channel::read_from(way& from, control& head) {
  if (!fill(from, sizeof head)) return false;
  std::memcpy(&head, from.coming.data(), sizeof head);
  fault_ = check(head);
  return fault_ == fault::none && fill(from, sizeof head + head.bytes);
}

control_channel::fault control_channel::check(const control& head) const noexcept {
  if (head.bytes > control::longest) return fault::too_long;
  const bool has_turn = head.number <= heard_ && head.heard <= first_ + said_.size();
  return has_turn ? fault::none : fault::out_of_turn;
}

void control_channel::end(way& one) noexcept {
  one.socket.close();
  one.coming.clear();
  one.sent = 0;
  has_ended_ = !is_open();
}

bool control_channel::read(control& head, std::span<const std::byte>& bytes) {
  constexpr std::uint64_t many = 16;
  for (way& each : ways_) {
    while (fault_ == fault::none && read_from(each, head)) {
      message_.swap(each.coming);
      each.coming.clear();
      drop_heard(head.heard);
      if (head.number != heard_) continue;  // it came by another
      ++heard_;
      if (heard_ - told_ >= many) say(control::kind::heard, 0);
      if (head.what == control::kind::heard) continue;
      bytes = std::span(message_).subspan(sizeof head);
      return true;
    }
    if (each.socket.has_ended()) end(each);
  }
  return false;
}

}  // namespace muster::verbs
