#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/base/random.hpp>

#include "tools/conformance/build.hpp"

namespace muster::testing {

using muster::random_stream;

/// A number that depends on both and nothing else: a stream's seed for the n-th of something.
inline std::uint64_t derive(std::uint64_t seed, std::uint64_t n) noexcept {
  random_stream both(seed ^ (n * 0xd6e8'feb8'6659'fd93U + 1));
  both.next();
  return both.next();
}

/// The seed of this run: `MUSTER_TEST_SEED` from the environment, or a new one every time.
std::uint64_t run_seed();

/// Whether the n-th of many cases is tried: under sanitizers, where each takes 5 to 10 times as
/// long, one of every three that follow each other is, chosen by the run's seed.
inline bool is_tried(std::uint64_t n) {
  return !sanitized || n % 3 == derive(run_seed(), n / 3) % 3;
}

/// "replay with MUSTER_TEST_SEED=…", for messages.
std::string how_to_replay();

}  // namespace muster::testing
