// The same seed gives the same run, to the last picosecond.

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "tests/search/case.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

using junk = std::vector<std::unique_ptr<std::vector<char>>>;

/// Allocations of all sizes with holes between them, so that what comes next lies elsewhere.
junk disturb_heap(random_stream& random) {
  junk kept;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t bytes = std::size_t{1} << random.below(random.one_in(20) ? 20 : 10);
    kept.push_back(std::make_unique<std::vector<char>>(bytes + random.below(64)));
  }
  std::erase_if(kept, [&](const auto&) { return random.one_in(2); });
  return kept;
}

random_case disturbed_case(std::uint64_t seed) {
  random_case result = make_case(seed);
  result.in.options.shuffle = true;
  result.in.model.jitter = 0.3;
  result.how.unpunctual = true;
  return result;
}

TEST_CASE("the same seed, the same trace, wherever things lie in memory") {
  INFO(how_to_replay());
  random_stream random(run_seed());
  for (std::size_t i = 0; i < rounds(100, 30); ++i) {
    const random_case each = disturbed_case(random.next());
    const std::string first = history_of(each);
    const junk between = disturb_heap(random);
    const std::string second = history_of(each);
    CHECK(first.size() > 100);
    CHECK_MESSAGE(first == second, "case ", each.seed);
  }
}

TEST_CASE("another seed, another trace") {
  INFO(how_to_replay());
  random_stream random(run_seed());
  std::size_t different = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    random_case each = disturbed_case(random.next());
    const std::string first = history_of(each);
    ++each.in.options.seed;
    different += history_of(each) != first;
  }
  CHECK(different >= 10);
}

}  // namespace
}  // namespace muster::testing
