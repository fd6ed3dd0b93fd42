#include "tools/conformance/random.hpp"

#include <cstdlib>
#include <random>

#include <muster/environment/environment.hpp>

namespace muster::testing {
namespace {

std::uint64_t choose_seed() {
  if (const char* given = environment::read(environment::test_seed))
    return std::strtoull(given, nullptr, 0);
  return std::random_device()();
}

}  // namespace

std::uint64_t run_seed() {
  static const std::uint64_t seed = choose_seed();
  return seed;
}

std::string how_to_replay() { return "replay with MUSTER_TEST_SEED=" + std::to_string(run_seed()); }

}  // namespace muster::testing
