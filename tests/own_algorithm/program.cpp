#include <algorithm>
#include <cstdio>
#include <muster/muster.hpp>
#include <vector>

using namespace muster;

task<> around(context& me, const arguments& call) {
  const std::size_t n = me.size(), right = (me.rank() + 1) % n, left = (me.rank() + n - 1) % n;
  me.arrive();  // exactly once, by every rank
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  for (std::size_t step = 0; step + 1 < n; ++step) {
    auto outgoing = me.send(right, call.received_from((me.rank() + n - step) % n));
    auto incoming = me.expect(left, call.received_from((left + n - step) % n));
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

const algorithm row = {
    .id = "around",
    .what = collective::allgather,
    .summary = "every block once around",
    .source = "mine",
    .suits = [](const shape&, const machine&, const arguments&) { return true; },
    .stages = [](const shape&, const machine&, const arguments&) { return stage_kind::none; },
    .run = around,
};

int main() {
  std::vector<algorithm> rows(default_algorithms().begin(), default_algorithms().end());
  rows.push_back(row);
  world here({.algorithms = rows});
  team& all = here.team();
  std::vector<int> mine(2, static_cast<int>(all.rank())), everybody(2 * all.size());
  here.run(by("around", allgather(all, mine, everybody)));
  const bool right =
      std::ranges::is_sorted(everybody) && everybody.back() + 1 == static_cast<int>(all.size());
  if (all.rank() == 0) std::printf("%zu ranks, %s\n", all.size(), right ? "right" : "wrong");
}
