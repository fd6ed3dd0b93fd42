// What one queue pair has under way, and one connection: as much as docs/bounds.md says; the rest
// waits, and comes whole.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "tests/rdma/meeting.hpp"
#include "tests/rdma/spied_device.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t many = 300;
constexpr std::size_t word = 8;

/// Without driving anybody: there is room for all.
bool send_many(party& from, std::size_t to) {
  bool all = true;
  for (std::size_t i = 0; i < many; ++i) all = send_now(from, 0, to, bytes_of(i, word)) && all;
  return all;
}

bool receive_many(meeting& all, std::size_t at, std::size_t from) {
  bool right = true;
  for (std::size_t i = 0; i < many && right; ++i) {
    right = receive(all, at, 0, from, bytes_of(i, word));
  }
  return right;
}

TEST_CASE("a queue pair has 64 sends under way at most") {
  meeting all;
  REQUIRE(all.open_all());
  spied_device spy(all[0].device());
  spy.holds_completions = true;
  REQUIRE(send_many(all[0], 1));
  all.drive(0, 50ms);
  // A piece and the packet behind it need two: with one left a packet waits, too.
  CHECK(spy.most_under_way() >= 63);
  CHECK(spy.most_under_way() <= 64);
  CHECK(spy.requests() < many);
  spy.holds_completions = false;
  CHECK(receive_many(all, 1, 0));
  CHECK(spy.most_under_way() <= 64);
  CHECK(all[0].traffic().lost == 0);
}

TEST_CASE("a queue pair has 112 packets out of which nobody has read") {
  meeting all;
  REQUIRE(send_now(all[0], 1, 1, bytes_of(0, word)));
  spied_device near(all[0].device());
  spied_device far(all[1].device());
  near.holds_notices = far.holds_notices = true;
  REQUIRE(all.until([&] { return near.notices() != 0; }));
  REQUIRE(send_many(all[0], 1));
  REQUIRE(send_many(all[1], 0));
  constexpr std::size_t most = 112;
  REQUIRE(all.until([&] { return near.notices() >= most && far.notices() >= most; }));
  all.drive(0, 50ms);
  all.drive(1, 50ms);
  CHECK(near.notices() == most);
  CHECK(far.notices() == most);
  // Each owes the other credits now, for which there are receives left.
  near.holds_notices = far.holds_notices = false;
  CHECK(receive_many(all, 1, 0));
  CHECK(receive_many(all, 0, 1));
  CHECK(all[0].traffic().lost + all[1].traffic().lost == 0);
}

/// The pieces that a queue pair has under way of such a message.
std::vector<std::size_t> pieces_under_way(std::size_t bytes) {
  meeting all;
  REQUIRE(all.open_all());
  long_message one(all, 1, bytes);
  REQUIRE(one.is_invited);
  spied_device spy(all[0].device());
  spy.holds_completions = true;
  one.put();
  all.drive(0, 50ms);
  const std::vector<std::size_t> held(spy.pieces().begin(), spy.pieces().end());
  spy.holds_completions = false;
  REQUIRE(all.until([&] { return one.take_head(); }));
  REQUIRE(all.until([&] { return one.is_in_place(); }));
  CHECK(one.is_right());
  return held;
}

TEST_CASE("two pieces of a long message are under way on a queue pair") {
  constexpr std::size_t shortest = std::size_t{64} << 10;
  constexpr std::size_t longest = std::size_t{256} << 10;
  using sizes = std::vector<std::size_t>;
  CHECK(pieces_under_way(5 * longest) == sizes{longest, longest});
  CHECK(pieces_under_way(100'000) == sizes{100'000});
  CHECK(pieces_under_way(shortest - 1) == sizes{shortest - 1});
}

TEST_CASE("no piece is shorter than 64 KiB where several rails share a message") {
  meeting all({.rails = 2});
  REQUIRE(all.open_all());
  long_message one(all, 1, 100'000);
  REQUIRE(one.is_invited);
  spied_device first(all[0].device(0));
  spied_device second(all[0].device(1));
  one.put();
  REQUIRE(all.until([&] { return one.take_head(); }));
  REQUIRE(all.until([&] { return one.is_in_place(); }));
  CHECK(one.is_right());
  std::vector<std::size_t> pieces(first.pieces().begin(), first.pieces().end());
  pieces.insert(pieces.end(), second.pieces().begin(), second.pieces().end());
  std::ranges::sort(pieces);
  CHECK(pieces == std::vector<std::size_t>{100'000 - 65'536, 65'536});
}

/// How many bytes are written for a receiver that takes nothing.
std::size_t bytes_not_taken(std::size_t window) {
  meeting all({.window = window});
  REQUIRE(send_now(all[0], meeting::lanes - 1, 1, bytes_of(0, word)));
  spied_device spy(all[0].device());
  REQUIRE(all.until([&] { return spy.notices() != 0; }));
  std::vector<std::size_t> sent;
  const std::size_t length = window / 4;
  const auto is_full = [&] {
    const std::size_t lane = sent.size() / 2;
    if (!send_now(all[0], lane, 1, bytes_of(sent.size(), length))) return true;
    sent.push_back(lane);
    return false;
  };
  REQUIRE(all.until_alone(0, is_full));
  all.drive(0, 50ms);
  CHECK(is_full());
  const std::size_t written = spy.noticed_bytes();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    CHECK(receive(all, 1, sent[i], 0, bytes_of(i, length)));
  }
  CHECK(send(all, 0, 0, 1, bytes_of(7, length)));
  CHECK(receive(all, 1, 0, 0, bytes_of(7, length)));
  return written;
}

TEST_CASE("two windows are written for a receiver that takes nothing") {
  for (const std::size_t window : {std::size_t{4} << 10, std::size_t{64} << 10}) {
    const std::size_t written = bytes_not_taken(window);
    CHECK(written <= 2 * window);
    CHECK(written > 2 * window - window / 2);
  }
}

}  // namespace
}  // namespace muster::testing
