#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace muster::testing {

/// SplitMix64: the same numbers from the same seed on every machine and library.
class random_stream {
public:
  explicit random_stream(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e37'79b9'7f4a'7c15U;
    std::uint64_t value = state_;
    value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebU;
    return value ^ (value >> 31);
  }
  /// 0 … bound - 1
  std::size_t below(std::size_t bound) noexcept { return next() % bound; }
  bool one_in(std::size_t n) noexcept { return below(n) == 0; }

private:
  std::uint64_t state_;
};

/// A number that depends on both and nothing else: a stream's seed for the n-th of something.
inline std::uint64_t derive(std::uint64_t seed, std::uint64_t n) noexcept {
  random_stream both(seed ^ (n * 0xd6e8'feb8'6659'fd93U + 1));
  both.next();
  return both.next();
}

/// The seed of this run: `MUSTER_TEST_SEED` from the environment, or a new one every time.
std::uint64_t run_seed();

/// "replay with MUSTER_TEST_SEED=…", for messages.
std::string how_to_replay();

}  // namespace muster::testing
