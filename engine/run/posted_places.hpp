#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include <muster/coro/pooled.hpp>

namespace muster {

/// Where an operation has let others write, in the order of its invitations: kept where verbs are
/// checked.
class posted_places {
public:
  void add(std::size_t from, std::span<std::byte> place) { all_.push_back({from, place}); }
  /// The first of a rank, which is forgotten; nothing if there is none.
  std::optional<std::span<std::byte>> take(std::size_t from) {
    const auto first = std::ranges::find(all_, from, &posted::from);
    if (first == all_.end()) return std::nullopt;
    const std::span<std::byte> place = first->place;
    all_.erase(first);
    return place;
  }
  void clear() noexcept { all_.clear(); }

private:
  struct posted {
    std::size_t from;
    std::span<std::byte> place;
  };
  pooled_list<posted> all_;
};

}  // namespace muster
