#include "tests/install/outside/half.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace outside {
namespace {

muster::task<> once_around(muster::context& me, const muster::arguments& call) {
  const std::size_t n = me.size(), right = (me.rank() + 1) % n, left = (me.rank() + n - 1) % n;
  me.arrive();
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  for (std::size_t step = 0; step + 1 < n; ++step) {
    auto outgoing = me.send(right, call.received_from((me.rank() + n - step) % n));
    auto incoming = me.expect(left, call.received_from((left + n - step) % n));
    co_await muster::when_all(std::move(outgoing), std::move(incoming));
  }
}

}  // namespace

const muster::algorithm around = {
    .id = "around",
    .what = muster::collective::allgather,
    .summary = "every block once around",
    .source = "outside",
    .suits = [](const muster::shape&, const muster::machine&,
                const muster::arguments&) { return true; },
    .stages = [](const muster::shape&, const muster::machine&,
                 const muster::arguments&) { return muster::stage_kind::none; },
    .run = once_around,
};

std::array<std::size_t, 8> sizes_in_half() { return sizes(); }

muster::task<int> sum(muster::team& team, int mine) {
  co_await muster::barrier(team);
  const int total = co_await muster::allreduce(team, mine, muster::sum);
  co_return total;
}

muster::task<> fail_by_library(muster::team& team) {
  co_await muster::barrier(team);
  std::vector<int> data(3);
  co_await muster::bcast(team, data, team.size());
}

muster::task<> fail_by_half(muster::team& team) {
  co_await muster::barrier(team);
  throw half_failed("rank " + std::to_string(team.rank()));
}

std::function<void(muster::team&)> for_threads() {
  return [](muster::team& team) {
    const int total = muster::start(sum(team, 1)).wait();
    if (total != static_cast<int>(team.size())) throw half_failed("wrong sum");
    if (team.rank() == 1) throw half_failed("rank 1");
  };
}

std::error_code stopped() { return muster::errc::stopped; }

muster::task<pair> extremes(muster::team& team, int mine) {
  const auto wider = muster::make_reduction<pair>(
      [](const pair& a, const pair& b) {
        return pair{std::min(a.low, b.low), std::max(a.high, b.high)};
      },
      muster::commutative::yes);
  std::vector<pair> all(1, pair{mine, mine});
  co_await muster::allreduce(team, all, wider);
  co_return all[0];
}

}  // namespace outside
