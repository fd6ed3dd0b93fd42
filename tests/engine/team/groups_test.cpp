#include <muster/team/groups.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include <muster/team/shape.hpp>

namespace muster::testing {
namespace {

using ranks = std::vector<std::size_t>;

/// Core c of a node with so many cores to a cache and to a NUMA node.
place core_at(std::size_t core, std::size_t cores_a_cache, std::size_t cores_a_numa_node) {
  place at;
  at.core = static_cast<std::uint32_t>(core);
  at.l3 = static_cast<std::uint32_t>(core / cores_a_cache);
  at.numa = static_cast<std::uint32_t>(core / cores_a_numa_node);
  at.package = at.numa;
  return at;
}

std::vector<place> places(std::size_t count, const std::function<place(std::size_t)>& of_rank) {
  std::vector<place> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(of_rank(i));
  return result;
}

ranks members(const groups& of, std::size_t group) {
  const auto all = of.members(group);
  return {all.begin(), all.end()};
}

ranks sizes(const groups& of) {
  ranks result;
  for (std::size_t g = 0; g < of.count(); ++g) result.push_back(of.members(g).size());
  return result;
}

/// What holds of every division: each rank is in one group, whose lowest rank leads it.
void check_sound(const groups& of, std::size_t count) {
  std::vector<std::size_t> found(count, 0);
  std::size_t most = 0;
  for (std::size_t g = 0; g < of.count(); ++g) {
    const auto all = of.members(g);
    REQUIRE(!all.empty());
    CHECK(std::ranges::is_sorted(all));
    CHECK(of.leaders()[g] == all.front());
    most = std::max(most, all.size());
    for (const std::size_t each : all) {
      ++found[each];
      CHECK(of.group_of(each) == g);
      CHECK(of.leader_of(each) == all.front());
      CHECK(of.is_leader(each) == (each == all.front()));
    }
  }
  CHECK(std::ranges::is_sorted(of.leaders()));
  CHECK(std::ranges::all_of(found, [](std::size_t times) { return times == 1; }));
  CHECK(of.most_members() == most);
}

TEST_CASE("two processors of 32 cores, eight to a cache: the caches") {
  const auto at = places(64, [](std::size_t i) { return core_at(i, 8, 32); });
  const groups near = groups::near(at);
  check_sound(near, 64);
  CHECK(sizes(near) == ranks(8, 8));
  CHECK(members(near, 1) == ranks{8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(sizes(groups::runs(at)) == ranks(8, 8));
}

TEST_CASE("256 cores, 16 to a cache, two NUMA nodes: the caches") {
  const auto at = places(256, [](std::size_t i) { return core_at(i, 16, 128); });
  const groups near = groups::near(at);
  check_sound(near, 256);
  CHECK(sizes(near) == ranks(16, 16));
}

TEST_CASE("small caches of one NUMA node are put together, not across") {
  const auto at = places(64, [](std::size_t i) { return core_at(i, 3, 12); });
  const groups near = groups::near(at);
  check_sound(near, 64);
  for (std::size_t g = 0; g < near.count(); ++g) {
    CHECK(near.members(g).size() <= 8);
    CHECK(near.members(g).front() / 12 == near.members(g).back() / 12);
  }
}

TEST_CASE("a large cache is cut into pieces of equal size") {
  const groups near = groups::near(places(50, [](std::size_t i) { return core_at(i, 64, 64); }));
  check_sound(near, 50);
  CHECK(sizes(near) == ranks{12, 13, 12, 13});
}

TEST_CASE("left-over ranks make smaller groups") {
  const groups near = groups::near(places(37, [](std::size_t i) { return core_at(i, 8, 32); }));
  check_sound(near, 37);
  CHECK(sizes(near) == ranks{8, 8, 8, 8, 5});
}

TEST_CASE("local peers in rank that are not local peers in cache") {
  const auto at = places(32, [](std::size_t i) { return core_at(i % 4 * 8 + i / 4, 8, 16); });
  const groups near = groups::near(at);
  check_sound(near, 32);
  CHECK(sizes(near) == ranks(4, 8));
  CHECK(members(near, 1) == ranks{1, 5, 9, 13, 17, 21, 25, 29});
  const groups runs = groups::runs(at);
  check_sound(runs, 32);
  std::size_t next = 0;
  for (std::size_t g = 0; g < runs.count(); ++g) {
    for (const std::size_t each : runs.members(g)) CHECK(each == next++);
  }
}

TEST_CASE("few ranks are one group") {
  const groups one = groups::near(places(4, [](std::size_t i) { return core_at(i, 8, 8); }));
  check_sound(one, 4);
  CHECK(one.count() == 1);
  check_sound(groups::near(places(1, [](std::size_t i) { return core_at(i, 8, 8); })), 1);
}

TEST_CASE("a cache and NUMA node for each rank: put together all the same") {
  const groups near = groups::near(places(64, [](std::size_t i) { return core_at(i, 1, 1); }));
  check_sound(near, 64);
  CHECK(sizes(near) == ranks(8, 8));
}

TEST_CASE("places that are not known: runs of about the root") {
  const std::vector<place> nowhere(100);
  const groups near = groups::near(nowhere);
  check_sound(near, 100);
  CHECK(sizes(near) == ranks(10, 10));
  auto some = places(100, [](std::size_t i) { return core_at(i, 8, 32); });
  some[17] = {};
  CHECK(sizes(groups::near(some)) == ranks(10, 10));
}

TEST_CASE("each node of a shape has groups of its own") {
  std::vector<place> all(24);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].node = i % 2;
  const shape both(std::move(all));
  check_sound(both.near_groups(0), 12);
  check_sound(both.rank_groups(1), 12);
}

}  // namespace
}  // namespace muster::testing
