// Sets of bytes as intervals, held against a plain set.

#include "transports/tcp/intervals.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

namespace muster::testing {
namespace {

using tcp::interval;

bool covers(const std::set<std::uint64_t>& plain, const interval& one) {
  for (std::uint64_t at = one.begin; at < one.end; ++at) {
    if (!plain.contains(at)) return false;
  }
  return true;
}

void check_same(const tcp::intervals& all, const std::set<std::uint64_t>& plain) {
  std::uint64_t bytes = 0;
  std::uint64_t last_end = 0;
  bool is_first = true;
  for (const interval& each : all) {
    CHECK(each.size() != 0);
    CHECK((is_first || each.begin > last_end));  // they do not touch
    CHECK(covers(plain, each));
    bytes += each.size();
    last_end = each.end;
    is_first = false;
  }
  CHECK(bytes == plain.size());
}

TEST_CASE("they hold what a plain set holds") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    tcp::intervals all;
    std::set<std::uint64_t> plain;
    for (int step = 0; step < 40; ++step) {
      const interval one{random() % 60, 0};
      const interval some{one.begin, one.begin + random() % 12};
      switch (random() % 5) {
        case 0:
        case 1:
          all.add(some);
          for (std::uint64_t at = some.begin; at < some.end; ++at) plain.insert(at);
          break;
        case 2:
          all.remove_below(some.begin / 2);
          plain.erase(plain.begin(), plain.lower_bound(some.begin / 2));
          break;
        case 3: {
          const auto found = all.holding(some.begin);
          CHECK(found.has_value() == plain.contains(some.begin));
          if (!found) break;
          CHECK(covers(plain, *found));
          CHECK(found->size() <= all.longest().size());
          const interval part{some.begin, std::min(found->end, some.end + 1)};
          all.remove(part);
          plain.erase(plain.lower_bound(part.begin), plain.lower_bound(part.end));
          break;
        }
        default:
          if (all.empty()) break;
          const interval taken = all.take(some.size() + 1);
          CHECK(taken.begin == *plain.begin());
          for (std::uint64_t at = taken.begin; at < taken.end; ++at) CHECK(plain.erase(at) == 1);
      }
      check_same(all, plain);
      CHECK(all.covers(some) == covers(plain, some));
    }
  }
}

}  // namespace
}  // namespace muster::testing
