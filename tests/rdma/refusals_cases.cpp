// What a rank cannot have said, beside the queue pairs and by them, ends its connection with words
// that say so.

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/rdma/meeting.hpp"
#include "tests/rdma/spied_device.hpp"
#include "transports/tcp/admission.hpp"
#include "transports/verbs/control.hpp"
#include "transports/verbs/control_channel.hpp"
#include "transports/verbs/notice.hpp"

namespace muster::testing {
namespace {

using verbs::control;

template <class T>
std::vector<std::byte> as_bytes_of(const T& one) {
  const auto bytes = std::as_bytes(std::span(&one, 1));
  return {bytes.begin(), bytes.end()};
}

control word(control::kind what, std::uint32_t bytes, std::uint64_t number = 0) {
  return {.number = number, .heard = 0, .what = what, .subflow = 0, .bytes = bytes};
}

/// Says to rank 0 beside the queue pairs what it likes, in the place of rank 1.
class impostor {
public:
  explicit impostor(meeting& all)
      : all_(all), by_(tcp::begin_connecting(all.address_of(0)), all.key(), {.from = 1, .to = 0}) {}

  bool is_admitted() {
    return all_.until_alone(0, [this] { return by_.advance() == tcp::admission::state::accepted; });
  }
  void say(const control& head, std::span<const std::byte> bytes = {}) {
    say_all(std::as_bytes(std::span(&head, 1)));
    say_all(bytes);
  }
  /// How many messages have come from rank 0, ever. It is not told that they have.
  std::size_t heard() {
    std::vector<std::byte> part(std::size_t{1} << 16);
    const ssize_t got = ::recv(by_.socket(), part.data(), part.size(), MSG_DONTWAIT);
    if (got > 0) unread_.insert(unread_.end(), part.begin(), part.begin() + got);
    control head;
    while (unread_.size() >= sizeof head) {
      std::memcpy(&head, unread_.data(), sizeof head);
      const std::size_t length = sizeof head + head.bytes;
      if (unread_.size() < length) break;
      unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(length));
      ++heard_;
    }
    return heard_;
  }

private:
  /// Rank 0 reads meanwhile.
  void say_all(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t said =
          ::send(by_.socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (said > 0) bytes = bytes.subspan(static_cast<std::size_t>(said));
      all_[0].all.progress();
      if (said < 0 && all_[0].has_lost(1)) return;
    }
  }

  meeting& all_;
  tcp::admission by_;
  std::vector<std::byte> unread_;
  std::size_t heard_ = 0;
};

/// Why rank 0 has lost rank 1; empty: it has not.
std::string why_lost(meeting& all) {
  all.until_alone(0, [&] { return all[0].has_lost(1); });
  return all[0].reach.how_lost(1);
}

/// What rank 0 says of it.
std::string refusal(const control& said, std::span<const std::byte> bytes = {}) {
  meeting all;
  impostor other(all);
  REQUIRE(other.is_admitted());
  other.say(said, bytes);
  return why_lost(all);
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

const std::string impossible = " it sent what cannot be: ";

TEST_CASE("a word beside the queue pairs has 65536 bytes at most") {
  constexpr std::uint32_t longest = std::uint32_t{1} << 16;
  const std::vector<std::byte> bytes(longest);
  CHECK(has(refusal(word(control::kind::offer, longest + 1)),
            impossible + "a message that is too long"));
  // The longest one is read: it offers a ring of no bytes.
  CHECK(has(refusal(word(control::kind::offer, longest), bytes),
            impossible + "a ring of another length"));
}

TEST_CASE("words beside the queue pairs that cannot be") {
  control said = word(control::kind::ready, 0, 1);
  CHECK(has(refusal(said), impossible + "a message out of turn"));
  said = word(control::kind::ready, 0);
  said.heard = 1;
  CHECK(has(refusal(said), impossible + "a message out of turn"));
  said = word(control::kind::ready, 0);
  said.subflow = 9;
  CHECK(has(refusal(said), impossible + "word of a queue pair that is not"));
  CHECK(has(refusal(word(static_cast<control::kind>(77), 0)), impossible + "a message of kind 77"));
  CHECK(has(refusal(word(control::kind::stopped, 0)),
            impossible + "a report of another length than it says"));
  verbs::arrived_report report;
  report.consumed = 1 << 20;
  CHECK(has(refusal(word(control::kind::stopped, sizeof report), as_bytes_of(report)),
            impossible + "word of what was never sent"));
  const verbs::link_name own{.team = 0, .from = 0, .lane = 0};
  CHECK(has(refusal(word(control::kind::withdraw, sizeof own), as_bytes_of(own)),
            impossible + "word of a link that is not"));
}

/// That leads nowhere.
verbs::queue_pair_offer offer_of(const meeting& all) {
  const verbs::rail& from = all.ports_of(1).told.rails[0];
  return {.at = {.gid = from.gid, .number = 77, .first_packet = 0, .lid = 0, .mtu = from.mtu},
          .stream = {},
          .credits = {},
          .capacity = 2 * std::uint64_t{meeting_options().window}};
}

// Of a second offer it says that it can make none.
TEST_CASE("4096 words wait for a peer that reads none, and no more") {
  constexpr std::size_t most = 4096;
  meeting all;
  impostor other(all);
  REQUIRE(other.is_admitted());
  const auto offer = as_bytes_of(offer_of(all));
  std::uint64_t said = 0;
  const auto say_next = [&] {
    other.say(word(control::kind::offer, static_cast<std::uint32_t>(offer.size()), said++), offer);
  };
  say_next();
  REQUIRE(all.until_alone(0, [&] { return other.heard() == 2; }));  // its own offer, and `ready`
  while (said < most - 1) say_next();
  REQUIRE(all.until_alone(0, [&] { return other.heard() == most; }));
  CHECK_FALSE(all[0].has_lost(1));
  say_next();
  CHECK(has(why_lost(all), " it does not read what it is told: 4096 messages wait"));
}

// ---- by the queue pairs

/// What rank 0 says of a packet of rank 1 that was changed on its way.
std::string refusal_of(const std::function<void(ibv_send_wr&, verbs::packet_head&)>& change) {
  meeting all;
  REQUIRE(all.open_all());
  spied_device spy(all[1].device());
  spy.change = [&](ibv_send_wr& one) {
    if (one.opcode != IBV_WR_RDMA_WRITE_WITH_IMM) return;
    change(one, *reinterpret_cast<verbs::packet_head*>(one.sg_list[0].addr));
  };
  REQUIRE(send_now(all[1], 0, 0, bytes_of(1, 100)));
  REQUIRE(all.until([&] { return all[0].has_lost(1); }));
  return all[0].reach.how_lost(1);
}

TEST_CASE("packets that cannot be") {
  CHECK(has(refusal_of([](ibv_send_wr& one, verbs::packet_head&) { one.imm_data = ~0U; }),
            impossible + "a notice that cannot be"));
  CHECK(has(refusal_of([](ibv_send_wr&, verbs::packet_head& head) { head.bytes = 1; }),
            impossible + "a notice that cannot be"));
  CHECK(has(refusal_of([](ibv_send_wr&, verbs::packet_head& head) { head.consumed = 1 << 20; }),
            impossible + "word of what was never sent"));
}

TEST_CASE("a frame of a link that is not") {
  meeting all({.more_lanes = 1});
  REQUIRE(all.open_all());
  REQUIRE(send_now(all[1], meeting::lanes, 0, bytes_of(1, 100)));
  REQUIRE(all.until([&] { return all[0].has_lost(1); }));
  CHECK(has(all[0].reach.how_lost(1), impossible + "a frame of kind 0, 100 bytes"));
}

}  // namespace
}  // namespace muster::testing
