#include "transports/shm/ring_connection.hpp"

#include <muster/base/copy_bytes.hpp>

#include "transports/shm/node_memory.hpp"
#include "transports/stream/links.hpp"

namespace muster::shm {

bool ring_connection::has_room(std::size_t bytes) noexcept {
  if (!out_) {
    out_.emplace(parking_, ends_.of.ring_of(ends_.rank, ends_.peer), ends_.of.ring_bytes());
    // First: whoever is woken by what is written must find it.
    ends_.of.connect(ends_.rank, ends_.peer);
  }
  if (out_->has_room(sizeof(stream::frame) + bytes)) return true;
  is_crowded_ = true;
  return false;
}

void ring_connection::send(const stream::frame& what, std::span<const std::byte> head,
                           std::span<const std::byte> body) noexcept {
  out_->write({std::as_bytes(std::span(&what, 1)), head, body});
}

std::size_t ring_connection::put(stream::link&, stream::frame what, std::span<const std::byte> head,
                                 std::span<const std::byte> body) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(body.data());
  what.bytes += sizeof address;
  send(what, head, std::as_bytes(std::span(&address, 1)));
  return what.bytes;
}

wire::link::body_state ring_connection::fetch(stream::link& to, const stream::frame& what,
                                              std::span<std::byte> place) {
  std::uint64_t address = 0;
  to.take(std::as_writable_bytes(std::span(&address, 1)));
  int refused = 0;
  if (ends_.of.one_process()) {
    copy_bytes(place.data(), reinterpret_cast<const std::byte*>(address), place.size());
  } else {
    refused = copy_from_process(ends_.of, ends_.peer, address, place);
  }
  stream::frame done = what;
  done.what = refused == 0 ? stream::frame::kind::placed : stream::frame::kind::refused;
  owe(done);
  return refused == 0 ? wire::link::body_state::in_place : wire::link::body_state::refused;
}

std::size_t ring_connection::unread() noexcept {
  if (!in_) {
    if (!ends_.of.is_connected(ends_.peer, ends_.rank)) return 0;
    in_.emplace(parking_, ends_.of.ring_of(ends_.peer, ends_.rank), ends_.of.ring_bytes());
  }
  return in_->unread();
}

}  // namespace muster::shm
