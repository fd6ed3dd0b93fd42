// Ranks that call different things: an error on all sides that names both calls, never a hang.

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

/// Buffers long enough for every call of these tests.
struct buffers {
  std::vector<std::byte> send = std::vector<std::byte>(1 << 20);
  std::vector<std::byte> receive = std::vector<std::byte>(1 << 20);

  arguments give(arguments call) {
    if (call.what == collective::barrier) return call;
    call.receive = receive.data();
    if (call.what != collective::bcast) call.send = send.data();
    return call;
  }
};

arguments call_of(collective what, std::size_t count, std::size_t root = 0,
                  datatype type = datatype::int32, reduction op = sum) {
  arguments call;
  call.what = what;
  if (what == collective::barrier) return call;
  call.count = count;
  call.type = type;
  call.root = root;
  if (has_op(what)) call.op = op;
  return call;
}

/// How a rank's first failure reads; it goes on calling until it learns of one.
struct outcome {
  std::optional<error> why;
  bool in_time = true;
};

/// Makes `first`, then barriers: a rank that ran ahead learns of the mismatch at a later call.
outcome call_until_failure(team& of, const arguments& first) {
  buffers memory;
  outcome result;
  result.why = failure_of([&] {
    start(of.engine(), with_timeout(5s, perform(of, memory.give(first)))).wait();
    for (int i = 0; i < 3; ++i) start(of.engine(), with_timeout(5s, barrier(of))).wait();
  });
  result.in_time = !result.why || result.why->code() != errc::deadline_exceeded;
  return result;
}

bool says(const error& why, std::string_view part) {
  return std::string_view(why.what()).find(part) != std::string_view::npos;
}

struct difference {
  const char* in;
  arguments usual;
  arguments odd;  // what the last rank calls instead
  std::string_view usual_text;
  std::string_view odd_text;
};

std::vector<difference> differences() {
  using enum collective;
  const auto f64 = datatype::float64;
  return {
      {"collective", call_of(barrier, 0), call_of(allreduce, 3), "barrier()",
       "allreduce(3 x int32"},
      {"collective, long", call_of(alltoall, 9000), call_of(allgather, 9000), "alltoall(9000",
       "allgather(9000"},
      {"size", call_of(allreduce, 4), call_of(allreduce, 5), "allreduce(4", "allreduce(5"},
      {"size, long", call_of(allreduce, 40000), call_of(allreduce, 40001), "allreduce(40000",
       "allreduce(40001"},
      {"size, short and long", call_of(allgather, 1), call_of(allgather, 50000), "allgather(1 ",
       "allgather(50000"},
      {"size, nothing", call_of(alltoall, 0), call_of(alltoall, 1), "alltoall(0", "alltoall(1"},
      {"size, nothing of bcast", call_of(bcast, 0), call_of(bcast, 1), "bcast(0", "bcast(1"},
      {"nothing, or another nothing", call_of(reduce, 0), call_of(scan, 0), "reduce(0", "scan(0"},
      {"nothing, or a barrier", call_of(allgather, 0), call_of(barrier, 0), "allgather(0",
       "barrier()"},
      {"type", call_of(allreduce, 4), call_of(allreduce, 4, 0, f64), "int32", "float64"},
      {"type of the same size", call_of(allreduce, 4), call_of(allreduce, 4, 0, datatype::uint32),
       " int32", "uint32"},
      {"operation", call_of(allreduce, 4), call_of(allreduce, 4, 0, datatype::int32, max), "sum",
       "max"},
      {"root of bcast", call_of(bcast, 4, 0), call_of(bcast, 4, 1), "root 0", "root 1"},
      {"root of a long bcast", call_of(bcast, 40000, 0), call_of(bcast, 40000, 1), "root 0",
       "root 1"},
      {"root of reduce", call_of(reduce, 4, 0), call_of(reduce, 4, 1), "root 0", "root 1"},
      {"reduce or allreduce", call_of(reduce, 40000, 0), call_of(allreduce, 40000), "reduce(",
       "allreduce("},
      {"bcast or barrier", call_of(bcast, 4, 0), call_of(barrier, 0), "bcast(", "barrier()"},
      {"scatter or gather", call_of(scatter, 4, 0), call_of(gather, 4, 0), "scatter(4", "gather(4"},
      {"scan or exscan", call_of(scan, 4), call_of(exscan, 4), "scan(4", "exscan(4"},
      {"size of reduce_scatter_block", call_of(reduce_scatter_block, 4),
       call_of(reduce_scatter_block, 6), "reduce_scatter_block(4", "reduce_scatter_block(6"},
  };
}

void check_outcome(const outcome& of_rank, const difference& each, std::size_t rank) {
  INFO("rank ", rank);
  CHECK(of_rank.in_time);
  REQUIRE(of_rank.why);
  INFO(std::string(of_rank.why->what()));
  CHECK(of_rank.why->code() == errc::mismatched_call);
  CHECK(says(*of_rank.why, each.usual_text));
  CHECK(says(*of_rank.why, each.odd_text));
}

void check_difference(const difference& each, const thread_options& options, std::size_t ranks) {
  INFO(each.in, ", ", ranks, " ranks, nodes ", options.node_of.empty() ? "one" : "several",
       options.share_address_space ? "" : ", staged");
  const watchdog alive(std::string("mismatch in ") + each.in);
  std::vector<outcome> outcomes(ranks);
  run_threads(
      ranks,
      [&](team& of) {
        const bool odd = of.rank() == ranks - 1;
        outcomes[of.rank()] = call_until_failure(of, odd ? each.odd : each.usual);
      },
      options);
  for (std::size_t rank = 0; rank < ranks; ++rank) check_outcome(outcomes[rank], each, rank);
}

TEST_CASE("on one node") {
  for (const difference& each : differences()) {
    check_difference(each, {}, 2);
    check_difference(each, {}, 3);
    check_difference(each, {.share_address_space = false}, 3);
  }
}

TEST_CASE("across nodes") {
  for (const difference& each : differences()) {
    check_difference(each, {.node_of = {0, 1}}, 2);
    check_difference(each, {.node_of = {0, 0, 1}}, 3);
    check_difference(each, {.node_of = {0, 1, 1}}, 3);
    check_difference(each, {.node_of = {0, 1, 2, 3}}, 4);
  }
}

/// Reduces to rank 0, but for the first; those who only give wait for nobody.
task<> reduce_often(team& of, std::size_t first_root, std::size_t times) {
  of.choose(collective::reduce, "last_combines");
  for (std::size_t i = 0; i < times; ++i) {
    std::array<int, 2> mine{};
    std::array<int, 2> all{};
    co_await reduce(of, mine, all, sum, i == 0 ? first_root : 0);
  }
}

// What they called is no longer on record then, and the lane has other operations' messages.
TEST_CASE("another root on a whole node, which is lanes ahead before the root comes") {
  for (const std::size_t rounds : {1, 2, 5}) {
    const watchdog alive("mismatch of a node");
    std::array<std::optional<error>, 4> outcomes;
    std::atomic<std::size_t> ahead = 0;
    std::atomic<bool> over = false;
    run_threads(4,
                [&](team& of) {
                  const auto call = [&] {
                    const bool odd = of.shape().node_of(of.rank()) == 1;
                    auto calls = reduce_often(of, odd ? 3 : 0, rounds * wire::lanes + 1);
                    start(of.engine(), with_timeout(5s, std::move(calls))).wait();
                  };
                  if (of.rank() == 0) {
                    while (ahead != 3) std::this_thread::yield();
                    outcomes[0] = failure_of(call);
                    over = true;
                    return;
                  }
                  call();
                  ++ahead;
                  while (!over) std::this_thread::yield();
                  outcomes[of.rank()] = failure_of([&] { start(of.engine(), barrier(of)).wait(); });
                },
                {.node_of = {0, 1, 1, 2}});
    for (const auto& why : outcomes) {
      REQUIRE(why);
      INFO(std::string(why->what()));
      CHECK(why->code() == errc::mismatched_call);
      CHECK(says(*why, "operation 1 is reduce(2 x int32, sum, root 0) on rank 0"));
      // Whichever of the lane's it was for which that rank came last of its node.
      bool names_later_one = false;
      for (std::size_t round = 1; round <= rounds; ++round) {
        const std::size_t sequence = round * wire::lanes + 1;
        names_later_one |= says(*why, "operation " + std::to_string(sequence));
      }
      CHECK(names_later_one);
    }
    if (rounds == 1) CHECK(says(*outcomes[0], "operation 65, reduce(2 x int32, sum, root 0)"));
  }
}

TEST_CASE("an algorithm chosen by hand on one rank only") {
  const watchdog alive("mismatch in algorithm");
  std::array<std::optional<error>, 2> outcomes;
  run_threads(2, [&](team& of) {
    if (of.rank() == 1) of.choose(collective::barrier, "srm");
    outcomes[of.rank()] =
        failure_of([&] { start(of.engine(), with_timeout(5s, barrier(of))).wait(); });
  });
  for (const auto& why : outcomes) {
    REQUIRE(why);
    CHECK(why->code() == errc::mismatched_call);
  }
}

/// Whether both of two ranks are told that they do not make the same call.
void check_told(std::string_view about, const std::function<task<>(team&)>& wrong) {
  INFO(about);
  const watchdog alive(std::string("mismatch in ") + std::string(about));
  for (const thread_options& options : {thread_options{}, thread_options{.node_of = {0, 1}}}) {
    std::array<std::optional<error>, 2> outcomes;
    run_threads(
        2,
        [&](team& of) {
          outcomes[of.rank()] = failure_of([&] {
            start(of.engine(), with_timeout(5s, wrong(of))).wait();
            start(of.engine(), with_timeout(5s, barrier(of))).wait();
          });
        },
        options);
    for (const auto& why : outcomes) {
      REQUIRE(why);
      INFO(std::string(why->what()));
      CHECK(why->code() == errc::mismatched_call);
    }
  }
}

TEST_CASE("layouts that are to be the same everywhere, of the same sum") {
  check_told("allgatherv", [](team& of) -> task<> {
    const std::array<std::size_t, 2> counts = {of.rank() == 0 ? 3U : 5U, of.rank() == 0 ? 5U : 3U};
    std::array<int, 8> all{};
    co_await allgatherv(of, all, {counts, {}});
  });
  check_told("reduce_scatter", [](team& of) -> task<> {
    const std::array<std::size_t, 2> counts = {of.rank() == 0 ? 3U : 5U, of.rank() == 0 ? 5U : 3U};
    std::array<int, 8> all{};
    co_await reduce_scatter(of, all, counts, sum);
  });
}

TEST_CASE("blocks of different lengths where they are sent and received") {
  for (const std::size_t length : {0, 3, 3000}) {
    check_told("alltoallv", [length](team& of) -> task<> {
      const std::array<std::size_t, 2> counts = {length + of.rank(), length + of.rank()};
      std::vector<int> sent(2 * length + 2);
      std::vector<int> taken(2 * length + 2);
      co_await alltoallv(of, sent, {counts, {}}, taken, {counts, {}});
    });
  }
}

template <class T>
task<> reduce_by_own(team& of, commutative order) {
  const auto own = make_reduction<T>([](const T& a, const T&) { return a; }, order);
  std::array<T, 2> values{};
  co_await allreduce(of, values, own);
}

TEST_CASE("reductions of different elements, or of which one commutes") {
  check_told("the elements of a reduction", [](team& of) {
    return of.rank() == 0 ? reduce_by_own<std::array<char, 12>>(of, commutative::no)
                          : reduce_by_own<std::array<char, 8>>(of, commutative::no);
  });
  check_told("the order of a reduction", [](team& of) {
    return reduce_by_own<std::array<char, 8>>(of,
                                              of.rank() == 0 ? commutative::no : commutative::yes);
  });
  check_told("the order of combining", [](team& of) -> task<> {
    std::array<float, 4> values{};
    const reducer how = of.rank() == 0 ? reducer(sum) : in_arrival_order(sum);
    co_await allreduce(of, values, how);
  });
}

TEST_CASE("a mismatch among operations in flight ends all of them, and the team for good") {
  const watchdog alive("mismatch in flight");
  run_threads(2, [](team& of) {
    std::array<std::array<int, 4>, 6> values{};
    std::vector<future<>> running;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t count = i == 3 && of.rank() == 1 ? 2 : 4;
      const std::span<int> part(values[i].data(), count);
      auto failed_early = failure_of([&] { running.push_back(start(allreduce(of, part, sum))); });
      if (failed_early) break;
    }
    std::size_t failed = 0;
    for (future<>& each : running) {
      const auto why = failure_of([&] { each.wait(); });
      if (why && why->code() == errc::mismatched_call) ++failed;
    }
    CHECK(failed >= 1);
    const auto why = failure_of([&] { start(barrier(of)).wait(); });
    REQUIRE(why);
    CHECK(why->code() == errc::mismatched_call);
    CHECK(says(*why, "broken"));
  });
}

}  // namespace
}  // namespace muster::testing
