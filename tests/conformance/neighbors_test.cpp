// Collectives of neighbors on every fabric that threads and the simulator offer; that nobody
// waits for those who are not neighbors; and what becomes of neighbors that do not agree.

#include <muster/environment/environment.hpp>

#include "tools/conformance/neighbors.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "algos/catalog.hpp"
#include "tests/harness/failure.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/simulated.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

task<> sleep_now_and_then(random_stream& random) {
  if (random.one_in(8)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
  co_return;
}

std::string run_threaded(const world_case& world, const neighbor_calls& what) {
  const watchdog alive("neighbors, " + describe(world));
  const lateness pause = sleep_now_and_then;
  findings found;
  try {
    run_threads(
        world.ranks,
        [&](team& of) { start(of.engine(), make_neighbor_calls(of, what, found, pause)).wait(); },
        options_for(world));
  } catch (const std::exception& why) {
    found.add(std::string("exception: ") + why.what());
  }
  const std::string wrong = found.take();
  return wrong.empty() ? wrong : describe(world) + "; " + how_to_replay() + "\n" + wrong;
}

std::string run_virtually(const world_case& world, const neighbor_calls& what) {
  const watchdog alive("neighbors, simulated, " + describe(world));
  const simulated in = simulate(world);
  findings found;
  sim::simulation all(in.model, algos::catalog(), in.options);
  try {
    all.run([&](sim::rank& me) -> task<> {
      const lateness pause = rests(me, 100us);
      co_await make_neighbor_calls(me.team(), what, found, pause);
    });
  } catch (const sim::deadlock& why) {
    found.add(why.what());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const auto failure = all.rank_at(i).failure()) found.add(text_of(failure));
  }
  const std::string wrong = found.take();
  return wrong.empty() ? wrong : describe(world) + "; " + how_to_replay() + "\n" + wrong;
}

neighbor_calls short_ones(std::uint64_t number) {
  return {.seed = derive(run_seed(), number),
          .calls = rounds(60, 20),
          .in_flight = 1 + number % 12,
          .largest = 3000,
          .unpunctual = number % 3 != 0};
}

neighbor_calls long_ones(std::uint64_t number) {
  return {.seed = derive(run_seed(), 1000 + number),
          .calls = rounds(6, 3),
          .in_flight = 1 + number % 3,
          .largest = 200'000,
          .unpunctual = number % 2 == 0};
}

TEST_CASE("neighbors of every world of threads, short blocks") {
  std::uint64_t number = 0;
  for (const world_case& world : worlds(rank_counts())) {
    const std::string wrong = run_threaded(world, short_ones(number++));
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("neighbors of every world of threads, long blocks") {
  constexpr std::size_t ranks[] = {1, 2, 3, 5, 8};
  std::uint64_t number = 0;
  for (const world_case& world : worlds(std::span(ranks).first(sanitized ? 4 : 5))) {
    const std::string wrong = run_threaded(world, long_ones(number++));
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("neighbors under virtual time") {
  std::uint64_t number = 0;
  for (const world_case& world : worlds(rank_counts())) {
    const std::string wrong = run_virtually(world, short_ones(number++));
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
  constexpr std::size_t ranks[] = {2, 3, 5};
  for (const world_case& world : worlds(ranks)) {
    const std::string wrong = run_virtually(world, long_ones(number++));
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("neighbors of teams made from others") {
  const watchdog alive("neighbors of derived teams");
  const lateness pause = sleep_now_and_then;
  findings found;
  run_threads(6, [&](team& of) {
    const auto half = start(split(of, static_cast<int>(of.rank() % 2), 0)).wait();
    start(of.engine(), make_neighbor_calls(*half, short_ones(of.rank() % 2), found, pause)).wait();
  });
  const std::string wrong = found.take();
  CHECK_MESSAGE(wrong.empty(), how_to_replay(), "\n", wrong);
}

// ---- nobody else is waited for

/// Two ranks that exchange so many blocks of so many bytes.
task<> exchange_often(team& of, std::size_t times, std::size_t bytes) {
  const std::array<std::size_t, 1> other = {1 - of.rank()};
  const std::vector<std::byte> send(bytes, std::byte{1});
  std::vector<std::byte> receive(bytes);
  const neighborhood with{.sources = other, .destinations = other};
  for (std::size_t i = 0; i < times; ++i) co_await neighbor_alltoall(of, send, receive, with);
}

task<> call_without_neighbors(team& of, std::size_t times) {
  const std::span<const std::byte> nothing;
  const std::span<std::byte> nowhere;
  for (std::size_t i = 0; i < times; ++i) co_await neighbor_alltoall(of, nothing, nowhere, {});
}

void check_apart(const world_case& world, std::size_t bytes) {
  const watchdog alive("neighbors without the others, " + describe(world));
  constexpr std::size_t times = 10 * wire::lanes;
  std::atomic<int> done{0};
  run_threads(
      world.ranks,
      [&](team& of) {
        if (of.rank() < 2) {
          start(of.engine(), exchange_often(of, times, bytes)).wait();
          ++done;
        } else {
          while (done.load() != 2) std::this_thread::yield();  // only then does it call anything
          start(of.engine(), call_without_neighbors(of, times)).wait();
        }
        start(of.engine(), barrier(of)).wait();
      },
      options_for(world));
  CHECK(done.load() == 2);
}

TEST_CASE("neighbors do not wait for ranks that are not") {
  constexpr std::size_t ranks[] = {3};
  constexpr layout nodes[] = {layout::one_node, layout::scattered};
  for (const world_case& world : worlds(ranks, nodes)) {
    for (const std::size_t bytes : {8, 100'000}) check_apart(world, bytes);
  }
}

TEST_CASE("nor for the end of what all ranks have begun before") {
  const watchdog alive("neighbors during a sum");
  std::atomic<int> done{0};
  run_threads(3, [&](team& of) {
    double one = 1;
    const std::span<double> value(&one, 1);
    if (of.rank() < 2) {
      future<> all = start(of.engine(), allreduce(of, value, sum));
      start(of.engine(), exchange_often(of, wire::lanes - 1, 8)).wait();
      ++done;
      all.wait();
    } else {
      while (done.load() != 2) std::this_thread::yield();
      start(of.engine(), allreduce(of, value, sum)).wait();
      start(of.engine(), call_without_neighbors(of, wire::lanes - 1)).wait();
    }
    CHECK(one == 3);
  });
}

// ---- neighbors that do not agree

/// What each rank's neighbourhood is, and the bytes of its blocks.
struct opinion {
  std::vector<std::size_t> sources;
  std::vector<std::size_t> destinations;
  std::size_t sent;
  std::size_t received;
};

task<> call_by(team& of, const opinion& mine) {
  const std::vector<std::byte> send(mine.sent * mine.destinations.size());
  std::vector<std::byte> receive(mine.received * mine.sources.size());
  co_await neighbor_alltoall(
      of, send, receive, neighborhood{.sources = mine.sources, .destinations = mine.destinations});
}

/// What each rank is told, by that call or by the barrier after it.
std::vector<std::optional<error>> told(const world_case& world,
                                       const std::vector<opinion>& opinions) {
  std::vector<std::optional<error>> result(world.ranks);
  run_threads(
      world.ranks,
      [&](team& of) {
        result[of.rank()] = failure_of([&] {
          start(of.engine(), with_timeout(20s, call_by(of, opinions[of.rank()]))).wait();
          start(of.engine(), with_timeout(20s, barrier(of))).wait();
        });
      },
      options_for(world));
  return result;
}

void check_all_told(const world_case& world, const std::vector<opinion>& opinions,
                    std::string_view part) {
  const watchdog alive("neighbors that do not agree, " + describe(world));
  for (const auto& why : told(world, opinions)) {
    REQUIRE(why);
    INFO(describe(world), ": ", std::string(why->what()));
    CHECK(why->code() == errc::mismatched_call);
    CHECK(std::string_view(why->what()).find(part) != std::string_view::npos);
  }
}

TEST_CASE("blocks of other lengths are an error that names both") {
  constexpr std::size_t ranks[] = {3};
  constexpr layout nodes[] = {layout::one_node, layout::scattered};
  for (const world_case& world : worlds(ranks, nodes)) {
    for (const std::size_t length : {0, 5, 70'000, 600'000}) {
      const opinion usual{{0, 1, 2}, {0, 1, 2}, length, length};
      opinion odd = usual;
      odd.sent = odd.received = length + 1;
      check_all_told(world, {usual, odd, usual}, " " + std::to_string(length + 1) + " ");
    }
  }
}

TEST_CASE("a source that has no such destination is told of, where the others are done") {
  constexpr std::size_t ranks[] = {3};
  constexpr layout nodes[] = {layout::one_node};
  for (const world_case& world : worlds(ranks, nodes)) {
    const opinion nobody{{}, {}, 8, 8};
    const opinion waits{{1}, {}, 8, 8};
    check_all_told(world, {waits, nobody, nobody}, "expected each to be a neighbor of the other");
    const opinion sends{{}, {1}, 3'000'000, 0};
    check_all_told(world, {sends, nobody, nobody}, "expected each to be a neighbor of the other");
  }
}

TEST_CASE("a block that nobody expected is found by the next") {
  const watchdog alive("a block too many");
  std::optional<error> why;
  run_threads(2, [&](team& of) {
    const opinion sends{{}, {1}, 8, 8};
    const opinion nobody{{}, {}, 8, 8};
    const opinion takes{{0}, {}, 8, 8};
    const auto failed = failure_of([&] {
      start(of.engine(), call_by(of, of.rank() == 0 ? sends : nobody)).wait();
      for (std::size_t i = 0; i < wire::neighbor_lanes; ++i) {
        start(of.engine(), with_timeout(20s, call_by(of, of.rank() == 0 ? sends : takes))).wait();
      }
    });
    if (of.rank() == 1) why = failed;
  });
  REQUIRE(why);
  INFO(std::string(why->what()));
  CHECK(why->code() == errc::mismatched_call);
  CHECK(std::string_view(why->what()).find("is of operation 1 in") != std::string_view::npos);
}

TEST_CASE("another collective is a mismatch between neighbors") {
  const watchdog alive("neighbors and a barrier");
  std::vector<std::optional<error>> said(2);
  run_threads(2, [&](team& of) {
    const opinion both{{0, 1}, {0, 1}, 8, 8};
    said[of.rank()] = failure_of([&] {
      task<> call = of.rank() == 0 ? call_by(of, both) : barrier(of);
      start(of.engine(), with_timeout(20s, std::move(call))).wait();
    });
  });
  for (const auto& why : said) {
    REQUIRE(why);
    const std::string text = why->what();
    INFO(text);
    CHECK(text.find("neighbor_alltoall(") != std::string::npos);
    CHECK(text.find("barrier()") != std::string::npos);
    CHECK(why->code() == errc::mismatched_call);
  }
}

TEST_CASE("a neighbor that leaves ends the operation of those who wait for it") {
  const watchdog alive("a neighbor that leaves");
  std::vector<std::optional<error>> said(2);
  run_threads(2, [&](team& of) {
    const opinion both{{0, 1}, {0, 1}, 8, 8};
    said[of.rank()] = failure_of([&] {
      if (of.rank() == 1) return;  // leaves
      start(of.engine(), call_by(of, both)).wait();
    });
  });
  REQUIRE(said[0]);
  CHECK(said[0]->code() == errc::rank_left);
}

// ---- wrong arguments

void check_refused(const std::optional<error>& why, std::string_view text) {
  REQUIRE(why);
  INFO(std::string(why->what()));
  CHECK(why->code() == errc::invalid_argument);
  CHECK(std::string_view(why->what()).find(text) != std::string_view::npos);
}

void check_wrong(team& of) {
  const std::array<std::size_t, 2> both = {0, 1};
  const std::array<std::size_t, 2> far = {0, 9};
  const std::array<std::size_t, 1> own = {of.rank()};
  const std::array<std::size_t, 1> one = {1};
  const std::array<std::size_t, 2> ones = {1, 1};
  std::array<int, 4> send{};
  std::array<int, 4> receive{};
  const auto call = [&](const neighborhood& with, std::size_t sent, std::size_t received) {
    return failure_of([&] {
      start(of.engine(), neighbor_alltoall(of, std::span(send).first(sent),
                                           std::span(receive).first(received), with))
          .wait();
    });
  };
  check_refused(call({.sources = both, .destinations = far}, 4, 4),
                "neighbor_alltoall: destinations[1] is 9; expected a rank from 0 to 1, or no_rank");
  check_refused(call({.sources = far, .destinations = both}, 4, 4), "sources[1] is 9");
  check_refused(call({.sources = both, .destinations = both}, 3, 4),
                "neighbor_alltoall: send has 3 elements; expected a multiple of 2");
  check_refused(call({.sources = both, .destinations = both}, 4, 3),
                "neighbor_alltoall: receive has 3 elements; expected a multiple of 2");
  check_refused(call({.sources = {}, .destinations = own}, 4, 4),
                "destinations has this rank more often than sources");
  check_refused(call({.sources = own, .destinations = {}}, 4, 4),
                "sources has this rank more often than destinations");
  check_refused(call({.sources = own, .destinations = own}, 4, 2),
                "block 0 is 16 bytes from this rank to itself; expected 8");
  check_refused(call({.sources = one, .destinations = one, .pairs = pairing::opposite}, 4, 4),
                "expected pairs of opposite directions");
  check_refused(failure_of([&] {
                  start(of.engine(), neighbor_alltoallv(of, send, {ones, {}}, receive, {one, {}},
                                                        {.sources = both, .destinations = both}))
                      .wait();
                }),
                "counts has 1 elements; expected 2, one for each source");
  arguments bare;
  bare.what = collective::neighbor_alltoall;
  check_refused(failure_of([&] { start(of.engine(), perform(of, bare)).wait(); }),
                "neighbor_alltoall: a neighborhood is missing");
  const neighborhood with{.sources = both, .destinations = both};
  bare.neighbors = &with;
  bare.count = 1;
  check_refused(failure_of([&] { start(of.engine(), perform(of, bare)).wait(); }),
                "neighbor_alltoall: send is null");
  bare.what = collective::barrier;
  bare.count = 0;
  check_refused(failure_of([&] { start(of.engine(), perform(of, bare)).wait(); }),
                "barrier: a neighborhood was given; expected none");
  check_refused(failure_of([&] { cartesian(of, {3}, {true}); }), "the product of dims");
  check_refused(failure_of([&] { cartesian(of, {2}, {}); }), "periodic has 0 values; expected 1");
  check_refused(failure_of([&] { cartesian(of, {0, 2}, {true, true}); }), "the product of dims");
}

TEST_CASE("wrong arguments are refused, and the team is whole afterwards") {
  const watchdog alive("neighbors, wrong arguments");
  run_threads(2, [](team& of) {
    check_wrong(of);
    start(of.engine(), barrier(of)).wait();
  });
}

TEST_CASE("by name, and as the environment would") {
  run_threads(2, [](team& of) {
    const std::array<std::size_t, 1> other = {1 - of.rank()};
    const std::array<int, 1> send = {static_cast<int>(of.rank())};
    std::array<int, 1> receive = {-1};
    const neighborhood with{.sources = other, .destinations = other};
    start(of.engine(), by("direct", neighbor_allgather(of, send, receive, with))).wait();
    CHECK(receive[0] == static_cast<int>(other[0]));
    CHECK(environment_name(collective::neighbor_alltoallv) == "MUSTER_NEIGHBOR_ALLTOALLV");
  });
}

}  // namespace
}  // namespace muster::testing
