// All that two ranks say to each other goes through one connection: in whatever order it is wanted,
// for teams that are there, not yet there or no more, and with little room.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <muster/environment/environment.hpp>
#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"
#include "transports/shm/fabric.hpp"

namespace muster::testing {
namespace {

using purpose = wire::links::purpose;

constexpr std::size_t ring = 4096;

shm::job small_job(std::size_t ranks) {
  shm::job_options options;
  options.places.resize(ranks);
  for (std::size_t i = 0; i < ranks; ++i) options.places[i].node = static_cast<std::uint32_t>(i);
  options.link_bytes = ranks * ring;
  options.arena_bytes = 1 << 16;
  options.boards_bytes = 64 << 20;
  options.one_process = true;
  return shm::job::create(options);
}

/// Two ranks, driven by one thread.
struct couple {
  shm::job job = small_job(2);
  shm::fabric first{job, 0};
  shm::fabric second{job, 1};
};

std::vector<std::byte> bytes_of(std::size_t lane, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(lane * 37 + i * 11);
  return bytes;
}

bool takes(wire::link& from, const std::vector<std::byte>& expected) {
  std::vector<std::byte> got(expected.size());
  if (!from.holds(got.size())) return false;
  from.take(got);
  return got == expected;
}

TEST_CASE("lanes are received in another order than they were sent in") {
  couple two;
  constexpr std::size_t lanes = 8;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const wire::open_link out(two.first.links(), lane, 1, purpose::send);
    const auto bytes = bytes_of(lane, 100 + lane);
    REQUIRE(out->has_room(bytes.size()));
    out->send(std::span(bytes).first(8), std::span(bytes).subspan(8));
  }
  for (std::size_t lane = lanes; lane-- > 0;) {
    const wire::open_link in(two.second.links(), lane, 0, purpose::receive);
    CHECK(takes(*in, bytes_of(lane, 100 + lane)));
    CHECK_FALSE(in->holds(1));
  }
}

TEST_CASE("a message at the front whose receiver goes away is kept") {
  couple two;
  const auto front = bytes_of(0, 64);
  const auto next = bytes_of(1, 64);
  {
    const wire::open_link waiting(two.second.links(), 0, 0, purpose::receive);
    for (std::size_t lane : {0, 1}) {
      const wire::open_link out(two.first.links(), lane, 1, purpose::send);
      REQUIRE(out->has_room(64));
      out->send({}, lane == 0 ? front : next);
    }
    CHECK(waiting->holds(64));
    std::array<std::byte, 16> some;
    waiting->take(some);
    CHECK(std::ranges::equal(some, std::span(front).first(16)));
  }
  const wire::open_link other(two.second.links(), 1, 0, purpose::receive);
  CHECK(takes(*other, next));
  const wire::open_link again(two.second.links(), 0, 0, purpose::receive);
  CHECK(takes(*again, {front.begin() + 16, front.end()}));
}

TEST_CASE("what came is heard behind what nobody has taken yet") {
  couple two;
  const auto front = bytes_of(0, 64);
  const auto next = bytes_of(1, 64);
  const wire::open_link slow(two.second.links(), 0, 0, purpose::receive);
  const wire::open_link other(two.second.links(), 1, 0, purpose::receive);
  for (const std::size_t lane : {0, 1}) {
    const wire::open_link out(two.first.links(), lane, 1, purpose::send);
    REQUIRE(out->has_room(64));
    out->send({}, lane == 0 ? front : next);
  }
  REQUIRE(slow->holds(64));
  CHECK_FALSE(other->holds(64));
  CHECK(two.second.members().all_heard(0));
  CHECK(takes(*other, next));
  CHECK(takes(*slow, front));
}

TEST_CASE("a lane that nobody receives from fills up, and the others go on") {
  couple two;
  const wire::open_link stuck(two.first.links(), 0, 1, purpose::send);
  const wire::open_link other(two.first.links(), 1, 1, purpose::send);
  const wire::open_link in(two.second.links(), 1, 0, purpose::receive);
  const auto bytes = bytes_of(5, 512);
  std::size_t kept = 0;
  for (int round = 0; round < 100; ++round) {
    if (stuck->has_room(bytes.size())) {
      stuck->send({}, bytes);
      ++kept;
    }
    REQUIRE(other->has_room(bytes.size()));
    other->send({}, bytes);
    REQUIRE(takes(*in, bytes));
    two.first.source()->progress();
  }
  CHECK(kept == ring / bytes.size());
  const wire::open_link late(two.second.links(), 0, 0, purpose::receive);
  for (std::size_t i = 0; i < kept; ++i) REQUIRE(takes(*late, bytes));
  CHECK(stuck->has_room(bytes.size()));
}

TEST_CASE("a rank sends to itself") {
  couple two;
  const wire::open_link out(two.first.links(), 3, 0, purpose::send);
  const wire::open_link in(two.first.links(), 3, 0, purpose::receive);
  const auto bytes = bytes_of(3, 1000);
  for (int round = 0; round < 50; ++round) {
    REQUIRE(out->has_room(bytes.size()));
    out->send({}, bytes);
    REQUIRE(takes(*in, bytes));
  }
}

TEST_CASE("a long message goes where it was posted, and its sender learns that it has left") {
  couple two;
  const wire::open_link out(two.first.links(), 0, 1, purpose::send);
  const wire::open_link in(two.second.links(), 0, 0, purpose::receive);
  std::vector<std::byte> place(100'000);
  const auto bytes = bytes_of(9, place.size());
  const auto head = bytes_of(1, 16);
  CHECK_FALSE(out->is_invited());
  REQUIRE(in->can_post());
  in->post(head, place);
  REQUIRE(out->is_invited());
  std::vector<std::byte> invitation(16);
  out->take_invitation(invitation);
  CHECK(invitation == head);
  REQUIRE(out->can_put());
  out->put(head, bytes);
  CHECK_FALSE(out->has_left());
  REQUIRE(takes(*in, head));
  in->begin_taking(place);
  CHECK(in->body() == wire::link::body_state::in_place);
  CHECK(out->has_left());
  CHECK(place == bytes);
}

// ---- teams

struct derived_team {
  std::array<std::size_t, 2> members{0, 1};
  std::array<wire::memory_handle, 2> handles;

  explicit derived_team(couple& of)
      : handles{of.first.provide(members, 0, wire::derived_extent),
                of.second.provide(members, 0, wire::derived_extent)} {}
  std::unique_ptr<wire::fabric> derive(shm::fabric& by) {
    return by.derive(members, handles, wire::derived_extent);
  }
};

TEST_CASE("what comes for a team that this rank has not derived yet is kept for it") {
  couple two;
  derived_team made(two);
  const auto early = made.derive(two.first);
  const wire::open_link out(early->links(), 2, 1, purpose::send);
  const auto bytes = bytes_of(2, 300);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(out->has_room(bytes.size()));
    out->send({}, bytes);
  }
  two.second.source()->progress();
  const auto late = made.derive(two.second);
  const wire::open_link in(late->links(), 2, 0, purpose::receive);
  for (int i = 0; i < 5; ++i) CHECK(takes(*in, bytes));
}

TEST_CASE("what comes for a team that was refused is dropped") {
  couple two;
  derived_team made(two);
  const auto early = made.derive(two.first);
  two.second.refuse(made.members, made.handles, wire::derived_extent,
                    {.code = errc::resource, .rank = 1, .text = ""});
  const wire::open_link out(early->links(), 0, 1, purpose::send);
  const auto bytes = bytes_of(2, 1000);
  for (int i = 0; i < 50; ++i) {
    two.second.source()->progress();
    if (out->has_room(bytes.size())) out->send({}, bytes);
  }
  const wire::open_link other(two.first.links(), 0, 1, purpose::send);
  const wire::open_link in(two.second.links(), 0, 0, purpose::receive);
  REQUIRE(other->has_room(bytes.size()));
  other->send({}, bytes);
  CHECK(takes(*in, bytes));
}

// ---- little room

/// The environment's variable for the length of a test.
class link_memory {
public:
  explicit link_memory(const char* bytes) { ::setenv(environment::link_memory.name, bytes, 1); }
  ~link_memory() { ::unsetenv(environment::link_memory.name); }
  link_memory(const link_memory&) = delete;
  link_memory& operator=(const link_memory&) = delete;
};

/// Long enough to fill a small ring many times; some pairs exchange nothing.
task<> flood(team& of, std::uint64_t seed, int rounds) {
  random_stream agreed(seed);
  for (int round = 0; round < rounds; ++round) {
    const std::size_t count = agreed.below(agreed.one_in(3) ? 40'000 : 900);
    std::vector<int> sent(count * of.size());
    std::iota(sent.begin(), sent.end(), static_cast<int>(of.rank() * sent.size()));
    std::vector<int> received(sent.size());
    co_await alltoall(of, sent, received);
    for (std::size_t from = 0; from < of.size(); ++from) {
      const std::size_t first = from * sent.size() + of.rank() * count;
      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(received[from * count + i] == static_cast<int>(first + i));
      }
    }
  }
}

TEST_CASE("full rings between ranks that fall asleep") {
  const watchdog alive("a wake-up was lost", std::chrono::seconds(rounds(60, 200)));
  const link_memory least("1");
  for (const std::size_t ranks : {2, 3, 5}) {
    INFO(ranks, " ranks; ", how_to_replay());
    std::vector<std::size_t> node_of(ranks);
    std::iota(node_of.begin(), node_of.end(), std::size_t{0});
    run_threads(ranks,
                [](team& of) {
                  for (const char* const by : {"pairwise", "pap_direct", "bruck"}) {
                    of.choose(collective::alltoall, by);
                    start(flood(of, run_seed(), static_cast<int>(rounds(60, 15)))).wait();
                  }
                },
                {.node_of = node_of, .share_address_space = false});
  }
}

TEST_CASE("several teams flood each other at once") {
  const watchdog alive("teams that flood", std::chrono::seconds(rounds(60, 200)));
  const link_memory least("1");
  run_threads(3,
              [](team& of) {
                const auto second = start(duplicate(of)).wait();
                const auto third = start(duplicate(of)).wait();
                const int times = static_cast<int>(rounds(40, 10));
                auto one = start(flood(of, run_seed(), times));
                auto two = start(flood(*second, run_seed() + 1, times));
                auto three = start(flood(*third, run_seed() + 2, times));
                three.wait();
                two.wait();
                one.wait();
              },
              {.node_of = {0, 1, 2}});
}

TEST_CASE("a memory for links that is no number is refused") {
  const link_memory wrong("64M");
  const auto why = failure_of([] { run_threads(1, [](team&) {}); });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  CHECK(why->text().find("MUSTER_LINK_MEMORY is '64M'") != std::string::npos);
}

}  // namespace
}  // namespace muster::testing
