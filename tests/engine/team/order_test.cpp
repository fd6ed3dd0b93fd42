#include <muster/team/order.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

constexpr auto one_way = stage_kind::one_way;
constexpr auto lengthy = stage_kind::lengthy;

ticket begin(operation_order& in, std::uint64_t call, stage_kind kind) {
  ticket mine;
  in.begin(mine, call, kind);
  return mine;
}

TEST_CASE("ranks that begin the same calls get the same tickets") {
  operation_order one;
  operation_order other;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto kind = static_cast<stage_kind>(i % 6);
    const ticket a = begin(one, i * i, kind);
    const ticket b = begin(other, i * i, kind);
    CHECK(a.sequence == i + 1);
    CHECK(a.word == b.word);
    CHECK(a.lane == b.lane);
    CHECK(a.stage == b.stage);
    CHECK(a.after == b.after);
  }
}

TEST_CASE("another call changes the word, and those of all later calls") {
  operation_order one;
  operation_order other;
  const ticket first = begin(one, 1, one_way);
  CHECK(first.word != begin(other, 2, one_way).word);
  for (int i = 0; i < 50; ++i) CHECK(begin(one, 7, one_way).word != begin(other, 7, one_way).word);
}

TEST_CASE("the word carries the sequence number in its upper half") {
  operation_order order;
  for (std::uint64_t i = 1; i < 40; ++i) CHECK((begin(order, 3, one_way).word >> 32) == i);
}

TEST_CASE("a lane is used again only after its last user") {
  operation_order order;
  std::vector<ticket> all;
  for (int i = 0; i < 200; ++i) all.push_back(begin(order, 0, static_cast<stage_kind>(i % 6)));
  for (std::size_t later = 0; later < all.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (all[earlier].lane == all[later].lane) {
        CHECK(all[later].after >= all[earlier].sequence);
      }
    }
  }
}

std::size_t stages_for(stage_kind kind) {
  switch (kind) {
    case stage_kind::apart:
    case stage_kind::none:
      return 1;
    case stage_kind::one_way:
      return wire::lanes;
    case stage_kind::exchanged:
      return wire::exchange_stages;
    case stage_kind::lengthy:
      return wire::long_stages;
    case stage_kind::very_long:
      return wire::very_long_stages;
  }
  return 0;
}

bool is_long(const ticket& one) {
  return one.kind == stage_kind::lengthy || one.kind == stage_kind::very_long;
}

bool shares_stages(const ticket& a, const ticket& b) {
  const bool both_staged = a.kind > stage_kind::none && b.kind > stage_kind::none;
  return both_staged && is_long(a) == is_long(b);
}

TEST_CASE("a stage too, whatever the kinds of its users") {
  random_stream random(run_seed());
  operation_order order;
  std::vector<ticket> all;
  for (int i = 0; i < 400; ++i) {
    const ticket mine = begin(order, 0, static_cast<stage_kind>(random.below(6)));
    CHECK(mine.stage < stages_for(mine.kind));
    for (const ticket& before : all) {
      if (shares_stages(before, mine) && before.stage == mine.stage) {
        CHECK(mine.after >= before.sequence);
      }
    }
    all.push_back(mine);
  }
}

TEST_CASE("an order with less of everything takes no more than it has") {
  random_stream random(run_seed());
  for (const wire::extent& much : {wire::derived_extent, wire::run_extent}) {
    operation_order order(much);
    for (int i = 0; i < 400; ++i) {
      const ticket mine = begin(order, 0, static_cast<stage_kind>(random.below(6)));
      CHECK(mine.lane < much.lanes);
      if (mine.kind != stage_kind::none) {
        CHECK(mine.stage < (is_long(mine) ? much.long_stages : much.lanes));
      }
    }
  }
}

TEST_CASE("what goes apart has channels of its own, and waits for their last user") {
  for (const std::size_t lanes : {wire::lanes, wire::derived_extent.lanes}) {
    operation_order order(wire::extent{.lanes = lanes});
    std::vector<ticket> apart;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const ticket mine = begin(order, 0, i % 3 == 0 ? stage_kind::apart : lengthy);
      if (mine.kind != stage_kind::apart) {
        CHECK(mine.link_lane == mine.lane);
        continue;
      }
      CHECK(mine.link_lane >= lanes);
      CHECK(mine.link_lane < wire::extent{.lanes = lanes}.link_lanes());
      std::uint64_t last = 0;
      for (const ticket& before : apart) {
        if (before.link_lane == mine.link_lane) last = before.sequence;
      }
      CHECK(mine.last_apart == last);
      apart.push_back(mine);
    }
  }
}

TEST_CASE("an operation is complete whatever became of those before it") {
  operation_order order;
  for (int i = 0; i < 5; ++i) begin(order, 0, one_way);
  order.complete(3);
  CHECK(order.is_complete(0));
  CHECK_FALSE(order.is_complete(1));
  CHECK_FALSE(order.is_complete(2));
  CHECK(order.is_complete(3));
  CHECK_FALSE(order.is_complete(4));
  order.complete(1);
  CHECK(order.is_complete(1));
  CHECK_FALSE(order.is_complete(2));
}

TEST_CASE("nothing waits for itself or later ones") {
  operation_order order;
  for (int i = 0; i < 100; ++i) {
    const ticket mine = begin(order, 0, i % 5 == 0 ? lengthy : one_way);
    CHECK(mine.after < mine.sequence);
  }
}

/// Completes operations in random order, begins others within `wire::lanes` of the oldest.
class random_history {
public:
  void step(random_stream& random) {
    const bool has_room = begun_ < order_.completed() + wire::lanes;
    if (running_.empty() || (has_room && random.one_in(2))) {
      begun_ = begin(order_, 0, one_way).sequence;
      running_.insert(begun_);
      return;
    }
    auto chosen = running_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(random.below(running_.size())));
    order_.complete(*chosen);
    running_.erase(chosen);
  }
  std::uint64_t completed() const { return order_.completed(); }
  std::uint64_t expected() const { return running_.empty() ? begun_ : *running_.begin() - 1; }

private:
  operation_order order_;
  std::uint64_t begun_ = 0;
  std::set<std::uint64_t> running_;
};

TEST_CASE("completed counts what is complete without a gap, in whatever order it came") {
  random_stream random(run_seed());
  random_history history;
  for (int i = 0; i < 2000; ++i) {
    history.step(random);
    REQUIRE_MESSAGE(history.completed() == history.expected(), how_to_replay());
  }
}

}  // namespace
}  // namespace muster::testing
