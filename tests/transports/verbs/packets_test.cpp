// The stream of packets between two ranks: what is put in comes out, in order and once, whatever
// the order in which packets come, and however often; and what cannot be is refused.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "tools/conformance/random.hpp"
#include "transports/stream/frame.hpp"
#include "transports/verbs/incoming_stream.hpp"
#include "transports/verbs/notice.hpp"
#include "transports/verbs/outgoing_stream.hpp"
#include "transports/verbs/packet_ring.hpp"

namespace muster::testing {
namespace {

using packet = verbs::outgoing_stream::packet;

stream::frame frame_of(std::size_t bytes) {
  const stream::frame made{.team = 1,
                           .from = 0,
                           .lane = 0,
                           .what = stream::frame::kind::message,
                           .taken = 0,
                           .bytes = static_cast<std::uint32_t>(bytes)};
  return made;
}

/// Two ends, and what a device does between them.
struct couple {
  explicit couple(std::size_t capacity) : sent(capacity), received(capacity) {}

  packet add(std::span<const std::byte> bytes) {
    const stream::frame head = frame_of(bytes.size());
    return out.add({std::as_bytes(std::span(&head, 1)), bytes});
  }
  bool write(const packet& one) {
    const auto from = out.bytes_of(one);
    std::memcpy(to_ring.at(one.at), from.data(), from.size());
    return in.note(verbs::notice::of(verbs::notice::of_packet(one.at, one.bytes).immediate()))
        .has_value();
  }
  /// The next message, if it is there whole.
  bool take(std::vector<std::byte>& bytes) {
    if (in.unread() == 0) return false;
    stream::frame head;
    in.peek(std::as_writable_bytes(std::span(&head, 1)));
    in.skip(sizeof head);
    bytes.resize(head.bytes);
    in.peek(bytes);
    in.skip(head.bytes);
    return true;
  }

  std::vector<std::byte> sent;
  std::vector<std::byte> received;
  verbs::packet_ring to_ring{received.data(), received.size()};
  verbs::outgoing_stream out{{sent.data(), sent.size()}};
  verbs::incoming_stream in{to_ring};
};

std::vector<std::byte> message(random_stream& random, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::byte& each : made) each = static_cast<std::byte>(random.next());
  return made;
}

TEST_CASE("whatever order packets come in, and however often") {
  INFO(how_to_replay());
  for (std::uint64_t round = 0; round < 20; ++round) {
    random_stream random(derive(run_seed(), round));
    couple both(8192);
    std::deque<std::vector<std::byte>> expected;
    std::vector<packet> on_the_way;
    std::vector<packet> arrived;  // not known to be consumed: may come again
    std::vector<std::byte> got;
    for (int step = 0; step < 20'000; ++step) {
      const std::size_t bytes = random.next() % (random.one_in(8) ? 3000 : 100);
      if (random.one_in(2) && both.out.has_room(sizeof(stream::frame) + bytes)) {
        expected.push_back(message(random, bytes));
        on_the_way.push_back(both.add(expected.back()));
      }
      if (random.one_in(2) && !on_the_way.empty()) {
        const auto which =
            on_the_way.begin() + static_cast<std::ptrdiff_t>(random.next() % on_the_way.size());
        REQUIRE(both.write(*which));
        arrived.push_back(*which);
        on_the_way.erase(which);
      }
      if (random.one_in(6) && !arrived.empty()) {
        REQUIRE(both.write(arrived[random.next() % arrived.size()]));
      }
      while (random.one_in(2) && both.take(got)) {
        REQUIRE(got == expected.front());
        expected.pop_front();
      }
      if (random.one_in(4)) {
        REQUIRE(both.out.note_consumed(both.in.consumed()));
        std::erase_if(arrived, [&](const packet& one) { return both.out.is_consumed(one.at); });
      }
    }
    for (const packet& each : on_the_way) REQUIRE(both.write(each));
    while (both.take(got)) {
      REQUIRE(got == expected.front());
      expected.pop_front();
    }
    CHECK(expected.empty());
  }
}

TEST_CASE("what has come and was not consumed is known") {
  couple both(4096);
  random_stream random(1);
  std::vector<packet> all;
  for (int i = 0; i < 5; ++i) all.push_back(both.add(message(random, 40)));
  for (const int which : {0, 1, 3}) CHECK(both.write(all[static_cast<std::size_t>(which)]));
  std::vector<std::byte> got;
  CHECK(both.take(got));
  CHECK(both.in.arrived() == std::vector<std::uint64_t>{all[1].at, all[3].at});
  CHECK(both.in.consumed() == all[1].at);
  CHECK_FALSE(both.out.note_consumed(all[4].at + all[4].bytes + 1));
}

TEST_CASE("what cannot be is refused") {
  random_stream random(1);
  const auto refused = [&](auto change) {
    couple both(4096);
    const packet one = both.add(message(random, 40));
    verbs::notice what = verbs::notice::of_packet(one.at, one.bytes);
    change(both, one, what);
    const auto from = both.out.bytes_of(one);
    std::memcpy(both.to_ring.at(one.at), from.data(), from.size());
    return !both.in.note(what).has_value();
  };
  CHECK_FALSE(refused([](couple&, const packet&, verbs::notice&) {}));
  CHECK(refused([](couple&, const packet&, verbs::notice& what) { what.length = 1; }));
  CHECK(refused([](couple&, const packet&, verbs::notice& what) { what.length = 4096; }));
  CHECK(refused(
      [](couple& both, const packet& one, verbs::notice&) { both.out.head(one.at).bytes = 0; }));
  CHECK(refused([](couple& both, const packet& one, verbs::notice&) {
    both.out.head(one.at).bytes = 1 << 30;
  }));
  CHECK(refused([](couple& both, const packet& one, verbs::notice&) {
    both.out.head(one.at).gap = 1 << 20;
  }));
  CHECK(refused([](couple& both, const packet& one, verbs::notice&) {
    stream::frame longer = frame_of(41);
    std::memcpy(both.out.bytes_of(one).data() + sizeof(verbs::packet_head), &longer, sizeof longer);
  }));
}

TEST_CASE("a packet is taken as its head was when it came") {
  couple both(4096);
  random_stream random(1);
  CHECK(both.write(both.add(message(random, 40))));
  auto& head = *reinterpret_cast<verbs::packet_head*>(both.received.data());
  head.bytes = 1 << 30;
  CHECK(both.in.unread() == sizeof(stream::frame) + 40);
}

}  // namespace
}  // namespace muster::testing
