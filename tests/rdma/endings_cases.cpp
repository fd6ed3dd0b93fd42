// An operation that ends early while the other side, or the network, does not let go of its memory:
// after 0.1 s the queue pairs end, nothing is read or written any more, and others are made.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/rdma/meeting.hpp"
#include "tests/rdma/spied_device.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t length = 1'000'000;

/// Has rail 0 lose all that is sent, or nothing.
struct deaf_rail {
  deaf_rail() { REQUIRE(set(" loss 100%")); }
  ~deaf_rail() { set(""); }
  static bool set(const std::string& how) {
    const std::string rails = std::getenv("RDMA_RAILS");
    return std::system((rails + " --netem 0" + how).c_str()) == 0;
  }
};

bool is_untouched(const std::vector<std::byte>& place) {
  return std::ranges::all_of(place, [](std::byte each) { return each == std::byte{}; });
}

clock::duration time_of_withdrawal(party& of) {
  const auto begin = clock::now();
  of.links.withdraw();
  return clock::now() - begin;
}

/// What was said before its body, and is all that comes of it.
void take_head(meeting& all, long_message& of) {
  CHECK(all.until([&] { return of.take_head(); }));
}

/// Messages go both ways, by queue pairs made anew.
void check_goes_on(meeting& all) {
  CHECK(send(all, 0, 1, 1, bytes_of(1, 100)));
  CHECK(receive(all, 1, 1, 0, bytes_of(1, 100)));
  CHECK(send(all, 1, 1, 0, bytes_of(2, 100)));
  CHECK(receive(all, 0, 1, 1, bytes_of(2, 100)));
  CHECK(all[0].traffic().made >= 2);
  CHECK(all[1].traffic().made >= 2);
}

TEST_CASE("what was being sent is not read any more, though the network takes nothing") {
  meeting all;
  REQUIRE(all.open_all());
  long_message one(all, 1, length);
  REQUIRE(one.is_invited);
  {
    const deaf_rail deaf;
    spied_device spy(all[0].device());
    one.put();
    REQUIRE(spy.pieces().size() == 2);
    CHECK(time_of_withdrawal(all[0]) >= 100ms);
    CHECK(all[0].traffic().queue_pairs == 0);
    CHECK(all[0].traffic().lost == 0);
    std::ranges::fill(one.body, std::byte{0xff});
  }
  take_head(all, one);
  check_goes_on(all);
  CHECK(is_untouched(one.place));
}

TEST_CASE("a peer that does not answer writes no more where it was invited") {
  meeting all;
  REQUIRE(all.open_all());
  long_message one(all, 1, length);
  REQUIRE(one.is_invited);
  CHECK(time_of_withdrawal(all[1]) >= 100ms);
  CHECK(all[1].traffic().queue_pairs == 0);
  one.put();  // rank 0 has heard nothing of it
  take_head(all, one);
  check_goes_on(all);
  CHECK(is_untouched(one.place));
}

TEST_CASE("nor in any other lane") {
  meeting all;
  REQUIRE(all.open_all());
  long_message one(all, 1, length, 2);
  long_message other(all, 1, length, 3);
  REQUIRE(one.is_invited);
  REQUIRE(other.is_invited);
  CHECK(time_of_withdrawal(all[1]) >= 100ms);
  CHECK(all[1].traffic().queue_pairs == 0);
  one.put();
  other.put();
  take_head(all, one);
  take_head(all, other);
  check_goes_on(all);
  CHECK(is_untouched(one.place));
  CHECK(is_untouched(other.place));
}

}  // namespace
}  // namespace muster::testing
