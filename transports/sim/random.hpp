#pragma once

#include <cstdint>

namespace muster::sim {

/// SplitMix64: the same numbers from the same seed everywhere.
class random {
public:
  explicit random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e37'79b9'7f4a'7c15U;
    std::uint64_t value = state_;
    value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebU;
    return value ^ (value >> 31);
  }
  /// 0 … 1, without 1.
  double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double probability) noexcept { return probability > 0 && fraction() < probability; }

private:
  std::uint64_t state_;
};

}  // namespace muster::sim
