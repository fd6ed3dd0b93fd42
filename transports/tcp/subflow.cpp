#include "transports/tcp/subflow.hpp"

#include <algorithm>
#include <functional>
#include <new>
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

/// Sent in place of what the peer has already.
constexpr std::array<std::byte, std::size_t{64} << 10> nothing{};

}  // namespace

void subflow::open(descriptor socket, registration watch) noexcept {
  socket_.open(std::move(socket), std::move(watch));
  limit_unsent(socket_.get(), most_unsent);
}

void subflow::close() noexcept {
  socket_.close();
  socket_.in().skip(socket_.in().size());
  out_left_ = left = 0;
  frames_sent.clear();
  stripes_sent.clear();
  run = {};
}

void subflow::begin(const packet& head, const std::array<iovec, 2>& bytes) noexcept {
  head_ = head;
  bytes_ = bytes;
  sends_nothing_ = false;
  out_left_ = sizeof head_ + head.bytes;
}

bool subflow::keep_rest() noexcept {
  const std::size_t bytes_left = std::min<std::size_t>(out_left_, head_.bytes);
  std::array<iovec, 2> rest = bytes_;
  keep_last(rest, bytes_left);
  try {
    std::vector<std::byte> copy;
    for (const iovec& part : rest) {
      const auto* const from = static_cast<const std::byte*>(part.iov_base);
      copy.insert(copy.end(), from, from + part.iov_len);
    }
    kept_ = std::move(copy);
  } catch (const std::bad_alloc&) {
    return false;
  }
  bytes_ = {iovec{kept_.data(), kept_.size()}, iovec{}};
  return true;
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
  const std::size_t sent = socket_.send(parts).bytes;
  out_left_ -= sent;
  return sent != 0;
}

bool subflow::next(packet& head) noexcept {
  byte_ring& in = socket_.in();
  if (in.size() < sizeof head && socket_.is_readable()) socket_.read({});
  if (in.size() < sizeof head) return false;
  in.peek(std::as_writable_bytes(std::span(&head, 1)));
  in.skip(sizeof head);
  return true;
}

}  // namespace muster::tcp
