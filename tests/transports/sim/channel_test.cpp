// Channels whose messages are late, overtake each other and come twice: the receiver sees every
// byte once and in order.

#include <doctest/doctest.h>

#include <vector>

#include "tests/transports/sim/run.hpp"
#include "tools/conformance/random.hpp"
#include "transports/sim/channel.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t all_bytes = 1'000'000;

std::byte byte_at(std::size_t i) { return static_cast<std::byte>(i * 31 % 251); }

task<> send_all(sim::rank& me, std::uint64_t seed) {
  random_stream random(seed);
  const wire::open_link out(me.fabric().links(), 3, 1, wire::links::purpose::send);
  for (std::size_t sent = 0; sent < all_bytes;) {
    const std::size_t now = std::min(1 + random.below(20'000), all_bytes - sent);
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < now; ++i) bytes.push_back(byte_at(sent + i));
    co_await until([&] { return out->has_room(now); });
    const std::size_t head = std::min<std::size_t>(random.below(17), now);
    out->send(std::span(bytes).first(head), std::span(bytes).subspan(head));
    co_await until([&] { return out->has_left(); });
    sent += now;
  }
}

task<> receive_all(sim::rank& me, std::uint64_t seed, std::size_t& wrong) {
  random_stream random(seed);
  const wire::open_link in(me.fabric().links(), 3, 0, wire::links::purpose::receive);
  for (std::size_t received = 0; received < all_bytes;) {
    const std::size_t now = std::min(1 + random.below(30'000), all_bytes - received);
    std::vector<std::byte> bytes(now);
    co_await until([&] { return in->holds(now); });
    in->take(bytes);
    for (std::size_t i = 0; i < now; ++i) wrong += bytes[i] != byte_at(received + i);
    received += now;
  }
}

void check_channel(const std::vector<std::size_t>& node_of, const sim::faults& with,
                   std::uint64_t seed) {
  INFO(how_to_replay());
  sim::model of;
  of.jitter = 0.5;
  of.network.copy_to_bytes = 5000;
  std::size_t wrong = 0;
  const sim::options how{.node_of = node_of, .seed = seed, .shuffle = true, .faults = with};
  run(of, how, [&](sim::rank& me) {
    return me.number() == 0 ? send_all(me, seed) : receive_all(me, seed + 1, wrong);
  });
  CHECK(wrong == 0);
}

TEST_CASE("late, overtaking and repeated messages") {
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t seed = derive(run_seed(), i);
    for (const auto& nodes : {std::vector<std::size_t>{0, 1}, {0, 0}}) {
      check_channel(nodes, {}, seed);
      check_channel(nodes, {.delayed = 0.5, .longest_delay_ns = 300'000}, seed);
      check_channel(nodes, {.repeated = 0.5}, seed);
      check_channel(nodes, {.delayed = 0.3, .longest_delay_ns = 90'000, .repeated = 1}, seed);
    }
  }
}

}  // namespace
}  // namespace muster::testing
