// What a rank may have under way to another by somebody else's messages, and what happens there.

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <muster/wire/link.hpp>

#include "tests/transports/mpi/ledger.hpp"
#include "transports/mpi/endpoint.hpp"
#include "transports/stream/connections.hpp"
#include "transports/stream/links.hpp"

namespace muster::testing {
namespace {

using purpose = wire::links::purpose;
using stream::frame;

constexpr std::size_t window = 4096;
constexpr std::uint32_t packets = mpi::endpoint::packet_tag;
constexpr std::uint32_t controls = mpi::endpoint::control_tag;
constexpr std::uint32_t first_tag = controls + 1;
constexpr std::size_t no_lane = 0;

std::span<const std::byte> bytes_of(const auto& one) { return std::as_bytes(std::span(&one, 1)); }

/// Rank 0 of two, whose MPI is a ledger.
class rank_0 {
public:
  explicit rank_0(ledger& by)
      : by_(by),
        end_({.rank = 0, .window = window}, by, {false, true}),
        all_(2, {&end_}),
        team_(all_, team, members, 0, 64) {}

  wire::links& team_links() { return team_; }
  void look() {
    // Often enough for all that one look leaves to the next.
    for (int i = 0; i < 100; ++i) all_.progress();
  }
  /// A frame of rank 1 comes in a packet.
  void bring(frame::kind what, std::size_t lane, std::span<const std::byte> body) {
    frame head{.team = team,
               .from = 1,
               .lane = static_cast<std::uint32_t>(lane),
               .what = what,
               .taken = 0,
               .bytes = static_cast<std::uint32_t>(body.size())};
    std::vector<std::byte> packet(bytes_of(head).begin(), bytes_of(head).end());
    packet.insert(packet.end(), body.begin(), body.end());
    by_.bring(packets, packet);
  }
  void end_packets() {
    for (auto sent = by_.sends(packets); !sent.empty(); sent = by_.sends(packets)) {
      by_.end_send(sent.front().which);
      look();
    }
  }

private:
  static constexpr std::uint64_t team = 7;
  static constexpr std::array<std::size_t, 2> members{0, 1};

  ledger& by_;
  mpi::endpoint end_;
  stream::connections all_;
  stream::links team_;
};

/// Addresses without memory.
class addresses {
public:
  explicit addresses(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_NONE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
               bytes) {
    REQUIRE(bytes_.data() != MAP_FAILED);
  }
  ~addresses() { ::munmap(bytes_.data(), bytes_.size()); }
  addresses(const addresses&) = delete;
  addresses& operator=(const addresses&) = delete;

  std::span<std::byte> all() const { return bytes_; }

private:
  std::span<std::byte> bytes_;
};

std::uint64_t number_in(const ledger::entry& packet) {
  std::uint64_t number = 0;
  std::memcpy(&number, packet.bytes.data() + sizeof(frame), sizeof number);
  return number;
}

/// Sends messages that fill a packet each, numbered, on one lane after the other.
class packet_sender {
public:
  explicit packet_sender(wire::links& by) : by_(by) {}

  /// As many as there is room for.
  /// \returns how many have been sent by now
  std::uint64_t send_all() {
    while (send_one()) {
    }
    return sent_;
  }

private:
  static constexpr std::size_t length = window / 2;

  // A link itself has room for two.
  bool send_one() {
    const wire::open_link to(by_, sent_ / 2, 1, purpose::send);
    if (!to->has_room(length)) return false;
    std::vector<std::byte> body(length);
    std::memcpy(body.data(), &sent_, sizeof sent_);
    to->send({}, body);
    ++sent_;
    return true;
  }

  wire::links& by_;
  std::uint64_t sent_ = 0;
};

TEST_CASE("8 packets are under way to a rank, 8 more are kept for it, and then its sender waits") {
  ledger by;
  rank_0 mine(by);
  const wire::open_link awaited(mine.team_links(), 63, 1, purpose::send);
  packet_sender sender(mine.team_links());
  CHECK(sender.send_all() == 16);
  CHECK(by.sends(packets).size() == 8);
  for (std::uint64_t left = 0; left < 20; ++left) {
    REQUIRE(by.sends(packets).size() == 8);
    CHECK(number_in(by.sends(packets).front()) == left);
    by.end_send(by.sends(packets).front().which);
    mine.look();
    CHECK(sender.send_all() == 17 + left);
  }
  mine.end_packets();
}

TEST_CASE("16 receives are posted for packets and 2 for control, and the MPI keeps what is more") {
  constexpr std::size_t length = 50;
  constexpr std::size_t messages = 40;
  ledger by;
  rank_0 mine(by);
  CHECK(by.receives(packets).size() == 16);
  CHECK(by.receives(controls).size() == 2);
  const wire::open_link from(mine.team_links(), no_lane, 1, purpose::listen);
  for (std::size_t i = 0; i < messages; ++i) {
    mine.bring(frame::kind::message, no_lane,
               std::vector<std::byte>(length, static_cast<std::byte>(i)));
  }
  CHECK(by.receives(packets).empty());
  mine.look();
  CHECK(by.receives(packets).size() == 16);
  CHECK(by.receives(controls).size() == 2);
  for (std::size_t i = 0; i < messages; ++i) {
    std::array<std::byte, length> one{};
    REQUIRE(from->holds(length));
    from->take(one);
    CHECK(one.front() == static_cast<std::byte>(i));
    CHECK(one.back() == static_cast<std::byte>(i));
  }
}

TEST_CASE("packets that nobody takes are left to the MPI from a window on") {
  constexpr std::size_t length = 1000;
  ledger by;
  rank_0 mine(by);
  const wire::open_link from(mine.team_links(), no_lane, 1, purpose::receive);
  for (int i = 0; i < 10; ++i) {
    mine.bring(frame::kind::message, no_lane, std::vector<std::byte>(length));
  }
  mine.look();
  // The first is longer than the window with four others.
  CHECK(by.receives(packets).size() == 16 - 5);
  REQUIRE(from->holds(2 * length));
  mine.look();
  CHECK(by.receives(packets).size() == 16);
  CHECK(from->holds(10 * length));
}

TEST_CASE("a tag of a long message is passed over while it is in use") {
  constexpr std::size_t length = 100;
  constexpr std::size_t tags = 3;
  ledger by(first_tag + tags - 1);
  rank_0 mine(by);
  const wire::open_link from(mine.team_links(), no_lane, 1, purpose::invite);
  std::array<std::array<std::byte, length>, tags + 1> places{};
  for (std::size_t i = 0; i < tags; ++i) {
    REQUIRE(from->can_post());
    from->post({}, places[i]);
    CHECK(by.receives(first_tag + static_cast<std::uint32_t>(i)).size() == 1);
  }
  CHECK_FALSE(from->can_post());
  by.end_receive(by.receives(first_tag + 1).front(), length);
  mine.look();
  REQUIRE(from->can_post());
  from->post({}, places[tags]);
  CHECK(by.receives(first_tag).size() == 1);
  CHECK(by.receives(first_tag + 1).front().bytes.data() == places[tags].data());
  CHECK_FALSE(from->can_post());
}

constexpr std::size_t most_of_one = std::size_t{1} << 30;

TEST_CASE("a long message comes in parts of 1 GiB") {
  const addresses place(most_of_one + 5);
  ledger by;
  rank_0 mine(by);
  const wire::open_link from(mine.team_links(), no_lane, 1, purpose::receive);
  from->post({}, place.all());
  const std::vector<ledger::place> parts = by.receives(first_tag);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].bytes.data() == place.all().data());
  CHECK(parts[0].bytes.size() == most_of_one);
  CHECK(parts[1].bytes.data() == place.all().data() + most_of_one);
  CHECK(parts[1].bytes.size() == 5);
  from->begin_taking(place.all());
  by.end_receive(parts[0], most_of_one);
  mine.look();
  CHECK(from->body() == wire::link::body_state::under_way);
  by.end_receive(parts[1], 5);
  mine.look();
  CHECK(from->body() == wire::link::body_state::in_place);
}

TEST_CASE("a long message is put in parts of 1 GiB") {
  const addresses body(2 * most_of_one + 5);
  ledger by;
  rank_0 mine(by);
  const wire::open_link to(mine.team_links(), no_lane, 1, purpose::send);
  const std::uint32_t tag = 9;
  mine.bring(frame::kind::invitation, no_lane, bytes_of(tag));
  mine.look();
  REQUIRE(to->is_invited());
  to->take_invitation({});
  to->put({}, body.all());
  mine.end_packets();
  const std::vector<ledger::entry> parts = by.sends(tag);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].bytes.size() == most_of_one);
  CHECK(parts[1].bytes.data() == body.all().data() + most_of_one);
  CHECK(parts[2].bytes.size() == 5);
  for (const ledger::entry& each : parts) {
    CHECK_FALSE(to->has_left());
    by.end_send(each.which);
    mine.look();
  }
  CHECK(to->has_left());
}

}  // namespace
}  // namespace muster::testing
