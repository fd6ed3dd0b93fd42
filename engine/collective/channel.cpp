// What ranks say to each other through channels, in order.

#include <algorithm>
#include <string>

#include "engine/collective/context.hpp"

namespace muster {
namespace {

/// What goes before each message: who sends it, by fingerprint, and how long it is.
struct message_header {
  std::uint64_t word;
  std::uint64_t bytes;
};

static_assert(sizeof(message_header) <= wire::channel::most_head);

/// A channel of this rank, for as long as it is used.
class open_channel {
public:
  open_channel(wire::fabric& on, std::size_t lane, std::size_t from, std::size_t to)
      : fabric_(on), channel_(on.open(lane, from, to)) {}
  ~open_channel() { fabric_.close(channel_); }
  open_channel(const open_channel&) = delete;
  open_channel& operator=(const open_channel&) = delete;

  wire::channel& operator*() const noexcept { return channel_; }
  wire::channel* operator->() const noexcept { return &channel_; }

private:
  wire::fabric& fabric_;
  wire::channel& channel_;
};

// Pieces half as long as the channel keep both ends busy at once.
constexpr std::size_t channel_piece = wire::channel::capacity / 2;

}  // namespace

bool channel_wait::ready() noexcept {
  switch (what_) {
    case until::has_room:
      return channel_.has_room(bytes_);
    case until::has_left:
      return channel_.has_left();
    default:
      return channel_.holds(bytes_);
  }
}

task<> context::deliver(std::size_t to, std::span<const std::byte> bytes) {
  using until = channel_wait::until;
  const open_channel out(fabric(), ticket_.lane, rank(), to);
  const message_header header{ticket_.word, bytes.size()};
  auto head = std::as_bytes(std::span(&header, 1));
  do {
    const auto body = bytes.first(std::min(bytes.size(), channel_piece));
    co_await channel_wait(*this, *out, until::has_room, head.size() + body.size(), to);
    out->put(head, body);
    co_await work();
    head = {};
    bytes = bytes.subspan(body.size());
  } while (!bytes.empty());
  co_await channel_wait(*this, *out, until::has_left, 0, to);
}

task<> context::expect(std::size_t from, std::span<std::byte> bytes) {
  using until = channel_wait::until;
  const open_channel in(fabric(), ticket_.lane, from, rank());
  message_header header;
  co_await channel_wait(*this, *in, until::holds, sizeof header, from);
  in->take(std::as_writable_bytes(std::span(&header, 1)));
  if (header.word != ticket_.word || header.bytes != bytes.size()) {
    if (auto why = mismatch(from)) throw *why;
    throw error(errc::mismatched_call,
                "rank " + std::to_string(from) + " sent " + std::to_string(header.bytes) +
                    " bytes where rank " + std::to_string(rank()) + " expected " +
                    std::to_string(bytes.size()) + " in " + describe(),
                from);
  }
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), channel_piece));
    co_await channel_wait(*this, *in, until::holds, piece.size(), from);
    in->take(piece);
    co_await work();
    bytes = bytes.subspan(piece.size());
  }
}

}  // namespace muster
