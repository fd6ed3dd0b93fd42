#pragma once

#include <cstddef>
#include <cstdint>

namespace muster {

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): a bijection of 64-bit words in which
/// each bit depends on all.
constexpr std::uint64_t mix_bits(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9U;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebU;
  return value ^ (value >> 31);
}

/// SplitMix64: the same numbers from the same seed on every machine and library.
class random_stream {
public:
  explicit constexpr random_stream(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e37'79b9'7f4a'7c15U;
    return mix_bits(state_);
  }
  /// 0 … bound - 1
  constexpr std::size_t below(std::size_t bound) noexcept { return next() % bound; }
  constexpr bool one_in(std::size_t n) noexcept { return below(n) == 0; }
  /// 0 … 1, without 1.
  constexpr double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  constexpr bool chance(double probability) noexcept {
    return probability > 0 && fraction() < probability;
  }

private:
  std::uint64_t state_;
};

}  // namespace muster
