#include "transports/verbs/outgoing_stream.hpp"

#include <algorithm>

#include <muster/base/copy_bytes.hpp>

namespace muster::verbs {

std::size_t outgoing_stream::length_of(std::size_t frames) noexcept {
  return (sizeof(packet_head) + frames + notice::unit - 1) / notice::unit * notice::unit;
}

std::size_t outgoing_stream::gap_before(std::size_t length) const noexcept {
  const std::size_t to_end = in_.capacity - end_ % in_.capacity;
  return length <= to_end ? 0 : to_end;
}

bool outgoing_stream::has_room(std::size_t bytes) const noexcept {
  const std::size_t length = length_of(bytes);
  return end_ - begin_ + gap_before(length) + length <= in_.capacity;
}

outgoing_stream::packet outgoing_stream::add(
    std::initializer_list<std::span<const std::byte>> frames) noexcept {
  std::size_t bytes = 0;
  for (const auto& each : frames) bytes += each.size();
  const std::size_t length = length_of(bytes);
  const std::size_t gap = gap_before(length);
  const packet made{end_ + gap, static_cast<std::uint32_t>(length)};
  head(made.at) = {.consumed = 0,
                   .received = 0,
                   .gap = static_cast<std::uint32_t>(gap),
                   .bytes = static_cast<std::uint32_t>(bytes)};
  std::byte* to = in_.at(made.at) + sizeof(packet_head);
  for (const auto& each : frames) {
    copy_bytes(to, each.data(), each.size());
    to += each.size();
  }
  end_ = made.at + length;
  return made;
}

bool outgoing_stream::note_consumed(std::uint64_t consumed) noexcept {
  if (consumed > end_) return false;
  begin_ = std::max(begin_, consumed);
  return true;
}

}  // namespace muster::verbs
