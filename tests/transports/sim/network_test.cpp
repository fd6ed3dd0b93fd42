// Network interfaces: which queue pairs they hold, which rail a message takes, and for how long.

#include <doctest/doctest.h>

#include <algorithm>
#include <list>

#include "tools/conformance/random.hpp"
#include "transports/sim/network.hpp"

namespace muster::testing {
namespace {

using sim::from_ns;
using sim::node_interfaces;
using sim::queue_pair_cache;

/// The plainest least-recently-used cache.
class reference_cache {
public:
  explicit reference_cache(std::size_t capacity) : capacity_(capacity) {}
  bool use(std::uint64_t pair) {
    const auto found = std::ranges::find(held_, pair);
    const bool held = found != held_.end();
    if (held) held_.erase(found);
    held_.push_front(pair);
    if (held_.size() > capacity_) held_.pop_back();
    return held;
  }

private:
  std::size_t capacity_;
  std::list<std::uint64_t> held_;
};

TEST_CASE("the least recently used queue pair goes first") {
  INFO(how_to_replay());
  random_stream random(run_seed());
  for (std::size_t capacity = 1; capacity <= 8; ++capacity) {
    queue_pair_cache cache(capacity);
    reference_cache reference(capacity);
    std::size_t different = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
      const std::uint64_t pair = random.below(2 * capacity);
      different += cache.use(pair) != reference.use(pair);
    }
    CHECK(different == 0);
  }
}

TEST_CASE("each set of a larger cache is one of its own") {
  INFO(how_to_replay());
  constexpr std::size_t sets = 4;
  random_stream random(run_seed());
  queue_pair_cache cache(8 * sets);
  std::vector<reference_cache> references(sets, reference_cache(8));
  std::size_t different = 0;
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::uint64_t pair = random.below(60);
    different += cache.use(pair) != references[pair % sets].use(pair);
  }
  CHECK(different == 0);
}

TEST_CASE("as many queue pairs as fit are all held; without a capacity all are") {
  queue_pair_cache cache(64);
  queue_pair_cache boundless(0);
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (std::uint64_t pair = 0; pair < 64; ++pair) {
      CHECK(cache.use(pair) == (round != 0));
      CHECK(boundless.use(pair));
    }
  }
}

sim::model::network_parameters two_rails() {
  sim::model::network_parameters of;
  of.rails = 2;
  of.bandwidth_gbs = 2;
  of.gap_ns = 10;
  of.stripe_from_bytes = 1000;
  return of;
}

TEST_CASE("messages take the rails in turn, long ones all of them") {
  const auto of = two_rails();
  node_interfaces interfaces(of);
  CHECK(interfaces.choose_rail(1) == 0);
  CHECK(interfaces.choose_rail(999) == 1);
  CHECK(interfaces.choose_rail(1000) == node_interfaces::all_rails);
  CHECK(interfaces.choose_rail(1) == 0);
}

TEST_CASE("a rail sends one message after the other, and receives at the same time") {
  const auto of = two_rails();
  node_interfaces interfaces(of);
  CHECK(interfaces.send(0, 1, 200, 0).ends == from_ns(100));
  const auto second = interfaces.send(from_ns(30), 1, 4, 0);
  CHECK(second.begins == from_ns(100));
  CHECK(second.ends == from_ns(110));  // the gap
  CHECK(interfaces.send(from_ns(30), 1, 200, 1).ends == from_ns(130));
  CHECK(interfaces.receive(from_ns(30), 1, 200, 0).ends == from_ns(130));
}

TEST_CASE("a divided message ends with its last part") {
  const auto of = two_rails();
  node_interfaces interfaces(of);
  CHECK(interfaces.send(0, 1, 2000, node_interfaces::all_rails).ends == from_ns(500));
  interfaces.send(0, 1, 100, 1);
  const auto late = interfaces.send(from_ns(500), 1, 2001, node_interfaces::all_rails);
  CHECK(late.begins == from_ns(550));
  CHECK(late.ends == from_ns(550 + 500.5));
}

}  // namespace
}  // namespace muster::testing
