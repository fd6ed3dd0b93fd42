#include "transports/tcp/buffered_socket.hpp"

#include <algorithm>
#include <array>

namespace muster::tcp {

moved buffered_socket::send(std::span<const iovec> parts) noexcept {
  const moved sent = send_some(socket_.get(), parts);
  if (sent.ended != moved::how::some) is_writable_ = false;
  // What the peer said last, perhaps that it leaves, is still to be read.
  if (sent.ended == moved::how::over) is_readable_ = true;
  return sent;
}

std::size_t buffered_socket::take(std::span<std::byte> to) noexcept {
  if (in_.size() == 0) return is_readable_ ? read(to) : 0;
  const std::size_t count = std::min(to.size(), in_.size());
  in_.peek(to.first(count));
  in_.skip(count);
  return count;
}

std::size_t buffered_socket::read(std::span<std::byte> first) noexcept {
  const auto free = in_.free_parts();
  const std::array<iovec, 3> all = {iovec{first.data(), first.size()}, free[0], free[1]};
  const std::size_t room = first.size() + in_.room();
  const moved got = receive_some(socket_.get(), all);
  // Where there is less than could be taken, the system tells when there is more.
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
