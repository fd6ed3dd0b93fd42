// Collectives from and to memory that is shared already.

#include <doctest/doctest.h>

#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {
namespace {

void check_all(memory buffers) {
  constexpr std::size_t counts[] = {0, 1, 64, 4095, 65536};
  constexpr std::size_t all[] = {1, 2, 4, 7};
  constexpr std::size_t few[] = {1, 4};
  const auto ranks = sanitized ? std::span<const std::size_t>(few) : all;
  constexpr layout nodes[] = {layout::one_node, layout::uneven};
  for (const world_case& world : worlds(ranks, nodes)) {
    const auto calls = all_calls(world.ranks, counts, datatype::uint16, max);
    const std::string wrong = run_world(world, calls, {.buffers = buffers});
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("send and receive buffers shared") { check_all(memory::shared); }
TEST_CASE("send buffers shared, receive buffers not") { check_all(memory::mixed); }

TEST_CASE("a shared buffer is an array of zeroes that moves") {
  run_threads(1, [](team& of) {
    shared_buffer<double> first(of, 100);
    REQUIRE(first.size() == 100);
    for (const double each : first) CHECK(each == 0.0);
    first[99] = 4.5;
    shared_buffer<double> second = std::move(first);
    CHECK(second[99] == 4.5);
    shared_buffer<double> third(of, 1);
    third = std::move(second);
    CHECK(third.size() == 100);
    const std::span<double> all = third;
    CHECK(all.back() == 4.5);
  });
}

TEST_CASE("memory of a shared buffer comes back and is zero again") {
  run_threads(1, [](team& of) {
    for (int i = 0; i < 1000; ++i) {
      shared_buffer<char> most(of, std::size_t{40} << 20);
      REQUIRE(most[0] == 0);
      most[0] = 1;
      if (i > 20) break;
    }
  });
}

TEST_CASE("too large a shared buffer is refused") {
  run_threads(1, [](team& of) {
    CHECK_THROWS_AS(shared_buffer<int>(of, std::size_t{1} << 40), error);
    CHECK_THROWS_AS(shared_buffer<int>(of, std::numeric_limits<std::size_t>::max() / 2), error);
    shared_buffer<int> still_works(of, 10);
    CHECK(still_works.size() == 10);
  });
}

}  // namespace
}  // namespace muster::testing
