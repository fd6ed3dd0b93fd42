// What a rank remembers of when it came to its calls, and left.

#include <muster/run/arrival_log.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "algos/catalog.hpp"
#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using site = arrival_log::site;

/// The logs of all ranks, each filled by its own thread.
class logs {
public:
  explicit logs(std::size_t ranks) : all_(ranks) {}
  void put(std::size_t rank, std::vector<site> recorded) { all_[rank] = std::move(recorded); }
  const std::vector<site>& of(std::size_t rank) const { return all_[rank]; }

private:
  std::vector<std::vector<site>> all_;
};

/// Runs `body` on ranks that record; what they recorded.
logs record_labelled(std::size_t ranks, const std::function<void(team&, arrival_log&)>& body,
                     const thread_options& options = {}) {
  const watchdog alive("arrival log");
  logs result(ranks);
  run_threads(
      ranks,
      [&](team& of) {
        arrival_log log(of.engine());
        of.record_arrivals(&log);
        body(of, log);
        of.record_arrivals(nullptr);
        result.put(of.rank(), log.sites());
      },
      options);
  return result;
}

logs record(std::size_t ranks, const std::function<void(team&)>& body,
            const thread_options& options = {}) {
  return record_labelled(ranks, [&](team& of, arrival_log&) { body(of); }, options);
}

const site* find(const std::vector<site>& among, const std::string& what) {
  const auto found = std::ranges::find(among, what, &site::what);
  return found == among.end() ? nullptr : &*found;
}

TEST_CASE("a call is remembered with its signature, its number and its times") {
  const auto before = std::chrono::steady_clock::now().time_since_epoch().count();
  const logs all = record(3, [](team& of) {
    std::array<double, 4> values{};
    for (int i = 0; i < 5; ++i) start(allreduce(of, values, sum)).wait();
    start(barrier(of)).wait();
    start(bcast(of, values, 1)).wait();
  });
  const auto after = std::chrono::steady_clock::now().time_since_epoch().count();
  for (std::size_t rank = 0; rank < 3; ++rank) {
    REQUIRE(all.of(rank).size() == 3);
    const site* const sums = find(all.of(rank), "allreduce(4 x float64, sum)");
    REQUIRE(sums != nullptr);
    CHECK(sums->team == 0);
    CHECK(sums->ranks == 3);
    CHECK(sums->rank == rank);
    CHECK(!sums->algorithm.empty());
    CHECK(sums->calls == 5);
    CHECK(sums->bytes == 5 * 32);
    REQUIRE(sums->kept.size() == 5);
    constexpr std::int64_t slack = 1'000'000;  // what the two clocks may differ by
    std::int64_t last = before - slack;
    for (std::size_t i = 0; i < 5; ++i) {
      const arrival_log::call& one = sums->kept[i];
      CHECK(one.sequence == i + 1);
      CHECK(!one.failed);
      CHECK(last <= one.arrived);
      CHECK(one.arrived <= one.left);
      last = one.left;
    }
    CHECK(last <= after + slack);
    CHECK(find(all.of(rank), "barrier()")->kept.at(0).sequence == 6);
    CHECK(find(all.of(rank), "bcast(4 x float64, root 1)")->calls == 1);
    CHECK(sums->fingerprint == find(all.of(0), sums->what)->fingerprint);
  }
}

TEST_CASE("a rank that comes late is seen to, and the others to wait for it") {
  constexpr auto late = 20ms;
  const logs all = record(3, [&](team& of) {
    std::array<double, 1> value{};
    start(barrier(of)).wait();
    if (of.rank() == 2) std::this_thread::sleep_for(late);
    start(allreduce(of, value, sum)).wait();
  });
  const auto call_of = [&](std::size_t rank) {
    return find(all.of(rank), "allreduce(1 x float64, sum)")->kept.at(0);
  };
  const auto last = call_of(2);
  for (const std::size_t rank : {0, 1}) {
    // They came about when the barrier ended, which may have been a while ago.
    CHECK(last.arrived - call_of(rank).arrived > std::chrono::nanoseconds(late / 2).count());
    CHECK(call_of(rank).left >= last.arrived - 1'000'000);
  }
}

TEST_CASE("without a log nothing is recorded, nor after it was taken back") {
  const watchdog alive("arrival log, off");
  run_threads(2, [](team& of) {
    start(barrier(of)).wait();
    arrival_log log(of.engine());
    of.record_arrivals(&log);
    start(barrier(of)).wait();
    of.record_arrivals(nullptr);
    start(barrier(of)).wait();
    const std::vector<site> sites = log.sites();
    REQUIRE(sites.size() == 1);
    CHECK(sites[0].calls == 1);
    CHECK(sites[0].kept.at(0).sequence == 2);
  });
}

TEST_CASE("teams made from others record, too, each under an id that its ranks share") {
  const logs all = record(4, [](team& of) {
    const auto half = start(split(of, static_cast<int>(of.rank() % 2), 0)).wait();
    const auto copy = start(duplicate(of)).wait();
    const auto another = start(duplicate(of)).wait();
    const std::array<std::size_t, 2> ranks = {3, 0};
    const auto some = start(subset(of, ranks)).wait();
    const auto quarter = start(split(*half, static_cast<int>(half->rank()), 0)).wait();
    for (team* each : {half.get(), copy.get(), another.get(), some.get(), quarter.get()}) {
      if (each != nullptr) start(barrier(*each)).wait();
    }
  });
  std::set<std::uint64_t> ids;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    for (const site& one : all.of(rank)) {
      if (one.what == "barrier()") ids.insert(one.team);
    }
  }
  // Two halves, two copies, some, four quarters.
  CHECK(ids.size() == 9);
  CHECK(!ids.contains(0));
  const auto barriers = [&](std::size_t rank) {
    std::vector<site> result;
    std::ranges::copy_if(all.of(rank), std::back_inserter(result),
                         [](const site& one) { return one.what == "barrier()"; });
    return result;
  };
  CHECK(barriers(0).size() == 5);
  CHECK(barriers(1).size() == 4);
  CHECK(barriers(0)[0].team == barriers(2)[0].team);
  CHECK(barriers(0)[0].team != barriers(1)[0].team);
  CHECK(barriers(0)[1].team == barriers(3)[1].team);
  CHECK(barriers(0)[3].team == barriers(3)[3].team);
  CHECK(barriers(0)[3].rank == 1);
  CHECK(barriers(3)[3].rank == 0);
  CHECK(barriers(0)[3].ranks == 2);
}

TEST_CASE("calls that fail are remembered as such") {
  const logs all = record(2, [](team& of) {
    std::vector<int> values(of.rank() == 0 ? 4 : 5, 1);
    const auto why = failure_of([&] {
      start(of.engine(), with_timeout(10s, allreduce(of, values, sum))).wait();
      for (int i = 0; i < 3; ++i) start(barrier(of)).wait();
    });
    CHECK(why);
  });
  std::size_t failed = 0;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const site* const mine =
        find(all.of(rank), rank == 0 ? "allreduce(4 x int32, sum)" : "allreduce(5 x int32, sum)");
    REQUIRE(mine != nullptr);
    for (const site& one : all.of(rank)) {
      for (const arrival_log::call& each : one.kept) failed += each.failed;
    }
  }
  CHECK(failed >= 1);
}

TEST_CASE("a plan's runs are calls") {
  const logs all = record(2, [](team& of) {
    std::array<double, 2> values{};
    plan sums(allreduce(of, values, sum));
    for (int i = 0; i < 7; ++i) start(of.engine(), sums.run()).wait();
  });
  for (const std::size_t rank : {0, 1}) {
    REQUIRE(all.of(rank).size() == 1);
    CHECK(all.of(rank)[0].calls == 7);
    CHECK(all.of(rank)[0].kept.size() == 7);
  }
}

TEST_CASE("varying blocks count with their mean") {
  const logs all = record(2, [](team& of) {
    const std::vector<std::size_t> counts = {1, 3};
    const std::vector<std::size_t> received(2, of.rank() == 0 ? 1 : 3);
    std::vector<double> mine(4);
    std::vector<double> theirs(6);
    start(alltoallv(of, mine, {counts}, theirs, {received})).wait();
  });
  CHECK(all.of(0).at(0).what == "alltoallv(float64)");
  CHECK(all.of(0).at(0).bytes == 16);
  CHECK(all.of(1).at(0).bytes == 24);
}

task<> many_barriers(team& of, std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i) co_await barrier(of);
}

TEST_CASE("of very many calls every rank keeps the same sample") {
  constexpr std::size_t calls = 3 * arrival_log::most_calls;
  const logs all =
      record(2, [&](team& of) { start(of.engine(), many_barriers(of, calls)).wait(); });
  const auto sequences = [&](std::size_t rank) {
    const site& one = all.of(rank).at(0);
    CHECK(one.calls == calls);
    CHECK(one.kept.size() <= arrival_log::most_calls);
    CHECK(one.kept.size() > arrival_log::most_calls / 4);
    std::vector<std::uint64_t> result;
    for (const arrival_log::call& each : one.kept) result.push_back(each.sequence);
    return result;
  };
  const auto mine = sequences(0);
  CHECK(mine == sequences(1));
  CHECK(std::ranges::is_sorted(mine));
  CHECK(mine.back() > calls * 9 / 10);
}

TEST_CASE("like calls under two labels are two sites") {
  const logs all = record_labelled(2, [](team& of, arrival_log& log) {
    start(barrier(of)).wait();
    log.label(7);
    start(barrier(of)).wait();
    start(barrier(of)).wait();
  });
  const std::vector<site>& sites = all.of(1);
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].label == 0);
  CHECK(sites[0].calls == 1);
  CHECK(sites[1].label == 7);
  CHECK(sites[1].calls == 2);
  CHECK(sites[0].fingerprint == sites[1].fingerprint);
}

TEST_CASE("there are only so many sites") {
  const watchdog alive("arrival log, many sites");
  run_threads(1, [](team& of) {
    arrival_log log(of.engine());
    of.record_arrivals(&log);
    std::vector<std::byte> bytes(arrival_log::most_sites + 10);
    for (std::size_t i = 1; i <= bytes.size(); ++i) {
      start(bcast(of, std::span(bytes).first(i), 0)).wait();
    }
    of.record_arrivals(nullptr);
    CHECK(log.sites().size() == arrival_log::most_sites);
    CHECK(log.left_out() == 10);
  });
}

TEST_CASE("where time is virtual, so are the times") {
  sim::model of;
  sim::simulation all(of, algos::catalog(), {.node_of = {0, 0}});
  std::vector<std::unique_ptr<arrival_log>> kept;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    kept.push_back(std::make_unique<arrival_log>(all.rank_at(rank).engine()));
    all.rank_at(rank).team().record_arrivals(kept.back().get());
  }
  all.run([](sim::rank& me) -> task<> {
    if (me.number() == 1) co_await me.rest(5000ns);
    co_await barrier(me.team());
  });
  const auto first = kept[0]->sites().at(0).kept.at(0);
  const auto second = kept[1]->sites().at(0).kept.at(0);
  CHECK(first.arrived == 0);
  CHECK(second.arrived >= 5000);
  CHECK(second.arrived < 50'000);
  CHECK(first.left >= 5000);
}

}  // namespace
}  // namespace muster::testing
