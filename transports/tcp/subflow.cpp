#include "transports/tcp/subflow.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "transports/tcp/socket.hpp"

namespace muster::tcp {
namespace {

/// The last so many bytes of `head`.
iovec part_of(packet& head, std::size_t last) noexcept {
  return {reinterpret_cast<std::byte*>(&head) + (sizeof head - last), last};
}

/// Of both parts, the last so many bytes.
void keep_last(std::span<iovec, 2> parts, std::size_t count) noexcept {
  for (iovec& part : {std::ref(parts[1]), std::ref(parts[0])}) {
    const std::size_t kept = std::min(part.iov_len, count);
    part.iov_base = static_cast<std::byte*>(part.iov_base) + (part.iov_len - kept);
    part.iov_len = kept;
    count -= kept;
  }
}

/// What waits in a slow socket cannot be sent by a faster one.
constexpr std::size_t most_unsent = std::size_t{128} << 10;

/// Sent in place of what its owner has taken back.
constexpr std::array<std::byte, std::size_t{64} << 10> nothing{};

}  // namespace

void subflow::open(descriptor socket) noexcept {
  socket_ = std::move(socket);
  limit_unsent(socket_.get(), most_unsent);
  is_readable_ = is_writable_ = true;
}

void subflow::close() noexcept {
  socket_ = descriptor();
  is_readable_ = is_writable_ = will_end_ = has_ended_ = false;
  out_left_ = left = 0;
  in_.skip(in_.size());
  frames_sent.clear();
  stripes_sent.clear();
  run = {};
}

void subflow::note(bool readable, bool writable, bool ends) noexcept {
  will_end_ = will_end_ || ends;
  is_readable_ = is_readable_ || readable;
  is_writable_ = is_writable_ || writable;
}

// ---- to the peer

void subflow::begin(const packet& head, const std::array<iovec, 2>& bytes) noexcept {
  head_ = head;
  bytes_ = bytes;
  sends_nothing_ = false;
  out_left_ = sizeof head_ + head.bytes;
}

bool subflow::push() noexcept {
  const std::size_t bytes_left = std::min<std::size_t>(out_left_, head_.bytes);
  std::array<iovec, 3> parts = {part_of(head_, out_left_ - bytes_left), bytes_[0], bytes_[1]};
  if (sends_nothing_) {
    parts[1] = {const_cast<std::byte*>(nothing.data()), std::min(bytes_left, nothing.size())};
    parts[2] = {};
  } else {
    keep_last(std::span(parts).last<2>(), bytes_left);
  }
  const moved sent = send_some(socket_.get(), parts);
  if (sent.ended != moved::how::some) is_writable_ = false;
  // What the peer said last is still to be read.
  if (sent.ended == moved::how::over) is_readable_ = true;
  out_left_ -= sent.bytes;
  return sent.bytes != 0;
}

// ---- from the peer

bool subflow::next(packet& head) noexcept {
  if (in_.size() < sizeof head && is_readable_) read({});
  if (in_.size() < sizeof head) return false;
  in_.peek(std::as_writable_bytes(std::span(&head, 1)));
  in_.skip(sizeof head);
  return true;
}

std::size_t subflow::take(std::span<std::byte> to) noexcept {
  if (in_.size() == 0) return is_readable_ ? read(to) : 0;
  const std::size_t count = std::min(to.size(), in_.size());
  in_.peek(to.first(count));
  in_.skip(count);
  return count;
}

std::size_t subflow::read(std::span<std::byte> first) noexcept {
  const auto free = in_.free_parts();
  const std::array<iovec, 3> all = {iovec{first.data(), first.size()}, free[0], free[1]};
  const std::size_t room = first.size() + in_.room();
  const moved got = receive_some(socket_.get(), all);
  if (got.bytes < room && !will_end_) is_readable_ = false;
  if (got.ended == moved::how::over) {
    is_readable_ = false;
    has_ended_ = true;
  }
  const std::size_t taken = std::min(got.bytes, first.size());
  in_.extend(got.bytes - taken);
  return taken;
}

}  // namespace muster::tcp
