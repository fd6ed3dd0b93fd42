// Devices that break or refuse, and queue pairs of which there are too few: what is to be sent goes
// another way or waits, and where there is no way for long the peer is lost.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/rdma/meeting.hpp"
#include "tests/rdma/spied_device.hpp"
#include "tests/rdma/unwilling_devices.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

bool exchange(meeting& all, std::size_t seed) {
  const auto bytes = bytes_of(seed, 100);
  return send(all, 0, 0, 1, bytes) && receive(all, 1, 0, 0, bytes) && send(all, 1, 0, 0, bytes) &&
         receive(all, 0, 0, 1, bytes);
}

void have_happen(party& at, std::size_t rail, ibv_event_type what) {
  have_say(at.device(rail), what);
  at.card.note(at.device(rail).event_descriptor());
}

TEST_CASE("what a broken device carried goes by another one, and nothing goes by it again") {
  meeting all({.rails = 2});
  REQUIRE(all.open_all());
  REQUIRE(exchange(all, 1));
  have_happen(all[0], 1, IBV_EVENT_DEVICE_FATAL);
  CHECK(all[0].traffic().lost == 1);
  const spied_device near(all[0].device(1));
  const spied_device far(all[1].device(1));
  const auto end = std::chrono::steady_clock::now() + 2s;
  for (std::size_t i = 0; std::chrono::steady_clock::now() < end; ++i) {
    REQUIRE(exchange(all, i));
  }
  CHECK(near.requests() == 0);
  CHECK(far.requests() == 0);
}

TEST_CASE("a rail is used again once its port is active again") {
  meeting all({.rails = 2});
  REQUIRE(all.open_all());
  REQUIRE(exchange(all, 1));
  have_happen(all[0], 1, IBV_EVENT_PORT_ERR);
  CHECK(all[0].traffic().lost == 1);
  const spied_device spy(all[0].device(1));
  REQUIRE(exchange(all, 2));
  CHECK(spy.requests() == 0);
  have_happen(all[0], 1, IBV_EVENT_PORT_ACTIVE);
  CHECK(all.until([&] { return exchange(all, 3) && spy.notices() >= 10; }));
}

/// Rank 0's only device breaks, and both have something to say, or one of them.
void check_all_lost(bool near_speaks, bool far_speaks) {
  meeting all({.timeout = 300ms});
  REQUIRE(all.open_all());
  have_happen(all[0], 0, IBV_EVENT_DEVICE_FATAL);
  if (near_speaks) REQUIRE(send(all, 0, 0, 1, bytes_of(1, 100)));
  if (far_speaks) REQUIRE(send(all, 1, 0, 0, bytes_of(1, 100)));
  REQUIRE(all.until([&] { return all[0].has_lost(1) || all[1].has_lost(0); }));
  const std::string& why = all[0].has_lost(1) ? all[0].reach.how_lost(1) : all[1].reach.how_lost(0);
  INFO(why);
  CHECK(why.find(" no queue pair to it works: rxe") != std::string::npos);
  CHECK(all.until([&] { return all[0].has_lost(1) && all[1].has_lost(0); }));
}

TEST_CASE("where the only device has broken the peer is lost, whoever speaks") {
  check_all_lost(true, true);
  check_all_lost(true, false);
  check_all_lost(false, true);
}

TEST_CASE("where all queue pairs are busy what is to be sent waits for one") {
  meeting all({.ranks = 3, .most_queue_pairs = 1});
  REQUIRE(send(all, 0, 1, 1, bytes_of(1, 100)));
  REQUIRE(receive(all, 1, 1, 0, bytes_of(1, 100)));
  long_message one(all, 1, 1'000'000);
  REQUIRE(one.is_invited);
  spied_device spy(all[0].device());
  spy.holds_completions = true;
  one.put();
  REQUIRE(send(all, 0, 1, 2, bytes_of(2, 100)));
  const auto end = std::chrono::steady_clock::now() + 500ms;
  REQUIRE(all.until([end] { return std::chrono::steady_clock::now() > end; }));
  CHECK(all[0].traffic().made == 1);
  CHECK(all[0].traffic().recycled == 0);
  spy.holds_completions = false;
  CHECK(receive(all, 2, 1, 0, bytes_of(2, 100)));
  REQUIRE(all.until([&] { return one.take_head(); }));
  REQUIRE(all.until([&] { return one.is_in_place(); }));
  CHECK(one.is_right());
  CHECK(all[0].traffic().recycled >= 1);
  CHECK(all[0].traffic().most_queue_pairs == 1);
}

TEST_CASE("where the device makes none what is to be sent waits, and it is asked again and again") {
  meeting all({.timeout = 300ms});
  {
    const unwilling_device none(all[0].device());
    REQUIRE(send(all, 0, 0, 1, bytes_of(1, 100)));
    // It is asked twice at a time, for one with room for inline bytes and for one without.
    REQUIRE(all.until([&] { return none.refusals() >= 10; }));
    CHECK(all[0].traffic().queue_pairs == 0);
    CHECK_FALSE(all[0].has_lost(1));
    CHECK_FALSE(all[1].has_lost(0));
  }
  CHECK(receive(all, 1, 0, 0, bytes_of(1, 100)));
  CHECK(exchange(all, 2));
}

}  // namespace
}  // namespace muster::testing
