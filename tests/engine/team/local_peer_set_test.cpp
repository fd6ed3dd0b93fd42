// The sets that waits for several local peers are made of, at the edges of their words.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include <muster/team/local_peer_set.hpp>

namespace muster::testing {
namespace {

constexpr std::array<std::size_t, 8> sizes = {1, 2, 63, 64, 65, 128, 130, most_ranks_a_node};

std::size_t members(const local_peer_set& set, std::size_t among) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < among; ++i) count += set.contains(i) ? 1 : 0;
  return count;
}

TEST_CASE("all but one") {
  for (const std::size_t size : sizes) {
    for (const std::size_t without : {std::size_t{0}, size / 2, size - 1}) {
      const local_peer_set set(size, without);
      CHECK(!set.contains(without));
      CHECK(members(set, size) == size - 1);
    }
  }
}

TEST_CASE("moving some to another set") {
  for (const std::size_t size : sizes) {
    local_peer_set set(size, 0);
    local_peer_set moved(size);
    const auto is_third = [](std::size_t i) { return i % 3 == 2; };
    const std::size_t how_many = set.move_if(moved, is_third);
    CHECK(how_many == members(moved, size));
    CHECK(set.move_if(moved, is_third) == 0);
    for (std::size_t i = 1; i < size; ++i) {
      CHECK(moved.contains(i) == is_third(i));
      CHECK(set.contains(i) != is_third(i));
    }
  }
}

TEST_CASE("the first from anywhere on, round the end") {
  for (const std::size_t size : sizes) {
    for (std::size_t only = 1; only < size; only += 31) {
      local_peer_set all(size, 0);
      local_peer_set set(size);
      REQUIRE(all.move_if(set, [&](std::size_t i) { return i == only; }) == 1);
      for (std::size_t from = 0; from < size; ++from) CHECK(set.first_from(from) == only);
    }
  }
  const local_peer_set two(3, 1);
  CHECK(two.first_from(0) == 0);
  CHECK(two.first_from(1) == 2);
  CHECK(two.first_from(2) == 2);
}

TEST_CASE("each is visited once, starting anywhere") {
  for (const std::size_t size : sizes) {
    local_peer_set set(size, size / 2);
    std::size_t at = size / 2;
    for (std::size_t left = size - 1; left != 0; --left) {
      at = set.first_from(at);
      REQUIRE(set.contains(at));
      set.erase(at);
    }
    CHECK(members(set, size) == 0);
  }
}

}  // namespace
}  // namespace muster::testing
