#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <span>

#include <muster/run/scratch_memory.hpp>

namespace muster {

/// Where an operation has let others write, in the order of its invitations: kept where verbs are
/// checked, in the operation's scratch memory, and gone with it.
class posted_places {
public:
  void add(scratch_memory& in, std::size_t from, std::span<std::byte> place) {
    posted** at = &first_;
    while (*at != nullptr) at = &(*at)->next;
    *at = new (in.take(sizeof(posted)).data()) posted{from, place, nullptr};
  }
  /// The first of a rank, which is forgotten; nothing if there is none.
  std::optional<std::span<std::byte>> take(std::size_t from) noexcept {
    posted** at = &first_;
    while (*at != nullptr && (*at)->from != from) at = &(*at)->next;
    if (*at == nullptr) return std::nullopt;
    const std::span<std::byte> place = (*at)->place;
    *at = (*at)->next;
    return place;
  }
  void forget() noexcept { first_ = nullptr; }

private:
  struct posted {
    std::size_t from;
    std::span<std::byte> place;
    posted* next;
  };
  posted* first_ = nullptr;
};

}  // namespace muster
