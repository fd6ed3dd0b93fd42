#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// Tells the other ranks of a node not only that something came, by the segments of a pipeline, but
/// which of several it was: a number for each segment, in memory that they share. The writer stores
/// it before its post and they load it after. It is no payload, and counts where that is left out,
/// too.
class arrival_notes {
public:
  /// Memory for so many segments.
  static std::size_t bytes(std::size_t segments) noexcept { return segments * sizeof(note); }
  arrival_notes(std::span<std::byte> memory, pipeline& on) noexcept : memory_(memory), on_(on) {}

  void tell(std::size_t segment, std::size_t which) const noexcept {
    const auto number = static_cast<note>(which);
    std::memcpy(place(segment), &number, sizeof number);
    on_.post(segment);
  }
  /// Of a segment that has arrived.
  std::size_t which(std::size_t segment) const noexcept {
    note number = 0;
    std::memcpy(&number, place(segment), sizeof number);
    return number;
  }

private:
  using note = std::uint32_t;
  std::byte* place(std::size_t segment) const noexcept { return memory_.data() + bytes(segment); }

  std::span<std::byte> memory_;
  pipeline& on_;
};

}  // namespace muster::algos
