#include "transports/shm/arena.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/scarce_memory.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t page = 4096;

/// Memory to give out; nothing is read or written, so it may lie anywhere.
std::span<std::byte> pages(std::size_t count) {
  return {reinterpret_cast<std::byte*>(std::uintptr_t{1} << 32), count * page};
}

TEST_CASE("parts lie on pages, inside, apart") {
  shm::arena all(pages(10));
  const auto one = all.allocate(1);
  const auto two = all.allocate(page + 1);
  const auto three = all.allocate(page);
  CHECK(one.size() == 1);
  CHECK(two.size() == page + 1);
  for (const auto part : {one, two, three}) {
    CHECK(reinterpret_cast<std::uintptr_t>(part.data()) % page == 0);
    CHECK(all.contains(part));
  }
  CHECK(two.data() - one.data() == page);
  CHECK(three.data() - two.data() == 2 * page);
}

TEST_CASE("what was given back is given out again, joined with its local peers") {
  shm::arena all(pages(3));
  const auto one = all.allocate(page);
  const auto two = all.allocate(page);
  const auto three = all.allocate(page);
  CHECK_THROWS_AS(all.allocate(1), error);
  all.deallocate(one);
  all.deallocate(three);
  CHECK_THROWS_AS(all.allocate(2 * page), error);
  all.deallocate(two);
  CHECK(all.allocate(3 * page).data() == one.data());
}

TEST_CASE("without memory for its books nothing is given out, and nothing lost") {
  shm::arena all(pages(4));
  const auto one = all.allocate(page);
  const auto two = all.allocate(page);
  for (const std::size_t count : {1, 2}) {
    const scarce_memory scarce(scarce_memory::number{1});
    CHECK_THROWS_AS(all.allocate(count * page), std::bad_alloc);
    CHECK(scarce.refused() == 1);
  }
  {
    // What is taken back needs none.
    const scarce_memory scarce(scarce_memory::number{1});
    all.deallocate(one);
    CHECK(scarce.refused() == 0);
  }
  all.deallocate(two);
  CHECK(all.allocate(4 * page).data() == one.data());
}

TEST_CASE("used up: an error that says how much there was") {
  shm::arena all(pages(2));
  const auto why = failure_of([&] { all.allocate(3 * page); });
  REQUIRE(why);
  CHECK(why->code() == errc::resource);
  CHECK(std::string(why->what()).find(std::to_string(2 * page)) != std::string::npos);
  CHECK_THROWS_AS(all.allocate(std::size_t{0} - 1), error);
  CHECK(all.allocate(2 * page).size() == 2 * page);
}

TEST_CASE("no bytes, and an arena of none") {
  shm::arena all(pages(1));
  const auto nothing = all.allocate(0);
  CHECK(nothing.empty());
  all.deallocate(nothing);
  CHECK(all.allocate(page).size() == page);

  shm::arena none(std::span<std::byte>{});
  CHECK_THROWS_AS(none.allocate(1), error);
}

TEST_CASE("contains knows its ends") {
  shm::arena all(pages(2));
  const auto whole = pages(3);
  CHECK(all.contains(whole.first(2 * page)));
  CHECK_FALSE(all.contains(whole.first(2 * page + 1)));
  CHECK_FALSE(all.contains({whole.data() - 1, 2}));
  int elsewhere = 0;
  CHECK_FALSE(all.contains(std::as_bytes(std::span(&elsewhere, 1))));
}

bool overlap(std::span<std::byte> a, std::span<std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

TEST_CASE("random use: no two parts overlap, and all comes back") {
  random_stream random(run_seed());
  INFO(how_to_replay());
  shm::arena all(pages(64));
  std::vector<std::span<std::byte>> parts;
  bool apart = true;
  for (int step = 0; step < 5000; ++step) {
    if (random.one_in(2) && !parts.empty()) {
      std::swap(parts[random.below(parts.size())], parts.back());
      all.deallocate(parts.back());
      parts.pop_back();
      continue;
    }
    std::span<std::byte> next;
    const auto full = failure_of([&] { next = all.allocate(1 + random.below(6 * page)); });
    if (full) continue;
    apart = apart && std::ranges::none_of(parts, [&](auto part) { return overlap(part, next); });
    parts.push_back(next);
  }
  CHECK(apart);
  for (const auto part : parts) all.deallocate(part);
  CHECK(all.allocate(64 * page).size() == 64 * page);
}

}  // namespace
}  // namespace muster::testing
