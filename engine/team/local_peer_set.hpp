#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <muster/team/shape.hpp>

namespace muster {

/// A set of local peers, small enough for a coroutine's frame.
class local_peer_set {
public:
  /// The empty set among `local_peers`, at least one.
  explicit local_peer_set(std::size_t local_peers) noexcept
      : local_peer_set(local_peers, filling::nobody) {}
  /// All of `local_peers` but one.
  local_peer_set(std::size_t local_peers, std::size_t without) noexcept
      : local_peer_set(local_peers, filling::all) {
    if (local_peers % 64 != 0) words_[used_ - 1] = bit(local_peers) - 1;
    erase(without);
  }
  void insert(std::size_t i) noexcept { words_[i / 64] |= bit(i); }
  void erase(std::size_t i) noexcept { words_[i / 64] &= ~bit(i); }
  bool contains(std::size_t i) const noexcept { return (words_[i / 64] & bit(i)) != 0; }
  /// The first member from `from` on, going round at the end; the set is not empty.
  std::size_t first_from(std::size_t from) const noexcept {
    std::size_t w = from / 64;
    std::uint64_t word = words_[w] & (~std::uint64_t{0} << (from % 64));
    while (word == 0) {
      w = w + 1 == used_ ? 0 : w + 1;
      word = words_[w];
    }
    return w * 64 + static_cast<std::size_t>(std::countr_zero(word));
  }
  /// Moves the members of which `chosen(i)` holds to `to`; how many there were.
  template <class Chosen>
  std::size_t move_if(local_peer_set& to, Chosen chosen) noexcept {
    std::size_t moved = 0;
    for (std::size_t w = 0; w < used_; ++w) {
      std::uint64_t those = 0;
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) {
        const std::uint64_t lowest = rest & -rest;
        if (chosen(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)))) those |= lowest;
      }
      words_[w] ^= those;
      to.words_[w] |= those;
      moved += static_cast<std::size_t>(std::popcount(those));
    }
    return moved;
  }

private:
  enum class filling : std::uint64_t { nobody = 0, all = ~std::uint64_t{0} };
  local_peer_set(std::size_t local_peers, filling with) noexcept : used_((local_peers + 63) / 64) {
    // Only the words that are needed are touched.
    std::size_t w = 0;
    do {
      words_[w] = static_cast<std::uint64_t>(with);
    } while (++w < used_);
  }
  static std::uint64_t bit(std::size_t i) noexcept { return std::uint64_t{1} << (i % 64); }
  std::size_t used_;
  std::array<std::uint64_t, most_ranks_a_node / 64> words_;
};

}  // namespace muster
