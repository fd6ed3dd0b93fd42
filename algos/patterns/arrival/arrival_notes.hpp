#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// Tells the other ranks of a node not only that something came, by the items of a track, but which
/// of several it was: a number for each item, in memory that they share. The writer stores it
/// before its post and they load it after. It is no payload, and counts where that is left out,
/// too.
class arrival_notes {
public:
  /// Memory for so many items.
  static std::size_t bytes(std::size_t items) noexcept { return items * sizeof(note); }
  arrival_notes(std::span<std::byte> memory, track& on) noexcept : memory_(memory), on_(on) {}

  void tell(std::size_t item, std::size_t which) const noexcept {
    const auto number = static_cast<note>(which);
    std::memcpy(place(item), &number, sizeof number);
    on_.post(item);
  }
  /// Of an item that has arrived.
  std::size_t which(std::size_t item) const noexcept {
    note number = 0;
    std::memcpy(&number, place(item), sizeof number);
    return number;
  }

private:
  using note = std::uint32_t;
  std::byte* place(std::size_t item) const noexcept { return memory_.data() + bytes(item); }

  std::span<std::byte> memory_;
  track& on_;
};

}  // namespace muster::algos
