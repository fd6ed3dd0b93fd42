// What goes wrong under virtual time: who waits for ever is named, and whoever dies, leaves, is
// late or calls something else is named to the others.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <limits>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <muster/api/collectives.hpp>
#include <muster/api/shrink.hpp>
#include <muster/coro/when_all.hpp>
#include <muster/progress/future.hpp>
#include <muster/progress/within.hpp>

#include "algos/catalog.hpp"
#include "tests/harness/failure.hpp"
#include "tests/transports/sim/run.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

const std::vector<std::vector<std::size_t>>& all_shapes() {
  static const std::vector<std::vector<std::size_t>> shapes = {{0, 0, 0}, {0, 0, 1}, {0, 1, 2}};
  return shapes;
}

task<> never() {
  co_await until([] { return false; });
}

/// A large allreduce that needs every rank.
task<> work(team& of) {
  std::vector<double> values(30000, 1.0);
  co_await allreduce(of, values, sum);
}

task<> work_often(team& of) {
  for (int i = 0; i < 1000; ++i) co_await work(of);
}

/// The text of the deadlock in which the programs end.
std::string deadlock_of(sim::simulation& all, const sim::simulation::program& each) {
  try {
    all.run(each);
  } catch (const sim::deadlock& why) {
    return why.what();
  }
  return "none";
}

TEST_CASE("a deadlock is reported with who waits for whom") {
  const watchdog alive("deadlock");
  for (const auto& nodes : all_shapes()) {
    sim::simulation all(sim::model(), algos::catalog(), {.node_of = nodes});
    const std::string text = deadlock_of(
        all, [](sim::rank& me) { return me.number() == 2 ? never() : barrier(me.team()); });
    INFO(text);
    CHECK(says(text, "deadlock"));
    CHECK(says(text, "rank 0 at "));
    CHECK(says(text, "barrier(), operation 1 waits for rank"));
    CHECK(says(text, ": the end of another operation"));
  }
}

TEST_CASE("of many ranks that wait for ever a few are named") {
  sim::simulation all(sim::model(), algos::catalog(), {.node_of = std::vector<std::size_t>(40, 0)});
  const std::string text = deadlock_of(all, [](sim::rank&) { return never(); });
  CHECK(says(text, "rank 31 at"));
  CHECK(!says(text, "rank 32 at"));
  CHECK(says(text, "and 8 more ranks"));
}

TEST_CASE("of many ranks for which one waits eight are named, and the others counted") {
  const auto text_of = [](std::size_t awaited) {
    sim::simulation all(sim::model(), algos::catalog(),
                        {.node_of = std::vector<std::size_t>(1 + awaited, 0)});
    return deadlock_of(all, [](sim::rank& me) {
      me.team().choose(collective::barrier, "flat");
      return me.number() == 0 ? barrier(me.team()) : never();
    });
  };
  CHECK(says(text_of(8), "waits for rank 1, 2, 3, 4, 5, 6, 7, 8\n"));
  CHECK(says(text_of(9), "waits for rank 1, 2, 3, 4, 5, 6, 7, 8 and 1 more\n"));
  CHECK(says(text_of(39), "waits for rank 1, 2, 3, 4, 5, 6, 7, 8 and 31 more\n"));
}

TEST_CASE("a node of more ranks than a team can have there is refused") {
  const auto why = failure_of([] {
    const std::vector<std::size_t> one_node(most_ranks_a_node + 1, 0);
    sim::simulation all(sim::model(), algos::catalog(), {.node_of = one_node});
    all.run([](sim::rank& me) { return barrier(me.team()); });
  });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  CHECK(says(why->text(), "team: a node has 1025 ranks; expected at most 1024"));
}

TEST_CASE("of many under way, one that its own program stops ends at once") {
  const watchdog alive("one of many stopped");
  sim::simulation all(sim::model(), algos::catalog(), {.node_of = {0, 0}});
  clock_time ended{};
  all.run([&](sim::rank& me) -> task<> {
    std::vector<task<>> many;
    if (me.number() == 1) {
      co_await me.rest(1s);
      co_return co_await barrier(me.team());
    }
    constexpr std::size_t stopped = 200;
    for (std::size_t i = 0; i < stopped; ++i) many.push_back(barrier(me.team()));
    std::stop_source source;
    const auto stop_later = [&]() -> task<> {
      co_await me.rest(1ms);
      source.request_stop();
    };
    many.push_back(with_stop(source.get_token(), barrier(me.team())));
    many.push_back(stop_later());
    try {
      co_await when_all(std::move(many));
    } catch (const error& why) {
      CHECK(why.code() == errc::stopped);
      ended = me.engine().now();
    }
  });
  CHECK(ended >= 1ms);
  CHECK(ended < 2ms);
}

void check_all_fail(sim::simulation& all, errc code, std::size_t culprit, std::string_view why) {
  const auto ends = failures(all);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (i == culprit) continue;
    INFO("rank ", i);
    REQUIRE(ends[i]);
    INFO(ends[i]->text());
    CHECK(ends[i]->code() == code);
    CHECK(says(ends[i]->text(), why));
  }
}

TEST_CASE("a rank that calls something else") {
  for (const auto& nodes : all_shapes()) {
    sim::simulation all(sim::model(), algos::catalog(), {.node_of = nodes});
    all.run([](sim::rank& me) -> task<> {
      if (me.number() == 1) co_await barrier(me.team());
      co_await work(me.team());
    });
    check_all_fail(all, errc::mismatched_call, no_rank, "barrier()");
  }
}

task<> scan_at_once(team& of, std::size_t times) {
  std::vector<std::array<int, 20>> data(times);
  std::vector<task<>> begun;
  for (auto& each : data) begun.push_back(scan(of, each, sum));
  co_await when_all(std::move(begun));
}

TEST_CASE("a rank that passed by with another call, and has begun more than there are lanes") {
  for (const auto& nodes : std::vector<std::vector<std::size_t>>{{0, 1, 1, 0, 1}, {0, 1, 1}}) {
    sim::simulation all(sim::model(), algos::catalog(), {.node_of = nodes});
    all.run([](sim::rank& me) -> task<> {
      std::array<int, 20> data{};
      if (me.number() == 0) {
        co_await bcast(me.team(), std::span(data).first(0), 0);
      } else {
        co_await scan(me.team(), data, sum);
      }
      co_await scan_at_once(me.team(), wire::lanes + 20);
    });
    check_all_fail(all, errc::mismatched_call, no_rank, "scan(20 x int32, sum)");
  }
}

/// Rank 0 is the root, but perhaps not of the first.
task<> reduce_often(team& of, std::size_t first_root) {
  of.choose(collective::reduce, "last_combines");
  for (int i = 0; i < 1000; ++i) {
    std::array<int, 2> mine{1, 2};
    std::array<int, 2> all{};
    co_await reduce(of, mine, all, sum, i == 0 ? first_root : 0);
  }
}

TEST_CASE("another root on a whole node, which left before the old one came") {
  sim::simulation all(sim::model(), algos::catalog(), {.node_of = {0, 1, 1, 2}});
  all.run([](sim::rank& me) -> task<> {
    if (me.number() == 0) co_await me.rest(10ms);
    const bool odd = me.number() == 1 || me.number() == 2;
    co_await reduce_often(me.team(), odd ? 3 : 0);
  });
  const auto why = failures(all)[0];
  REQUIRE(why);
  CHECK(why->code() == errc::mismatched_call);
  CHECK(says(why->text(), "operation 1 is reduce(2 x int32, sum, root 0) on rank 0"));
}

/// At each deadline those who wait look whether they wait in vain.
task<> look_often(const bool& over) {
  while (!over) {
    try {
      co_await with_timeout(5us, never());
    } catch (const error& why) {
      if (why.code() != errc::deadline_exceeded) throw;
    }
  }
}

task<> reduce_until_over(team& of, bool& over) {
  co_await reduce_often(of, 0);
  over = true;
}

TEST_CASE("a message that those of later operations overtake is none of another call") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    sim::options how{.node_of = {0, 1, 1, 1}, .seed = seed, .shuffle = true};
    how.faults.delayed = 0.001;
    how.faults.longest_delay_ns = 500'000;
    sim::simulation all(sim::model(), algos::catalog(), how);
    all.run([](sim::rank& me) -> task<> {
      if (me.number() != 0) co_return co_await reduce_often(me.team(), 0);
      bool over = false;
      co_await when_all(reduce_until_over(me.team(), over), look_often(over));
    });
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(!all.rank_at(i).failure());
  }
}

TEST_CASE("a rank that leaves") {
  for (const auto& nodes : all_shapes()) {
    for (std::size_t leaver = 0; leaver < 3; ++leaver) {
      sim::simulation all(sim::model(), algos::catalog(), {.node_of = nodes});
      all.run([&](sim::rank& me) -> task<> {
        co_await barrier(me.team());
        if (me.number() != leaver) co_await work(me.team());
      });
      check_all_fail(all, errc::rank_left, leaver, "rank " + std::to_string(leaver));
    }
  }
}

TEST_CASE("a rank that leaves when all it had to say is still on its way disturbs nobody") {
  sim::model of;
  of.network.latency_ns = 50'000;
  of.memory.flag_ns = 50'000;
  for (const auto& nodes : all_shapes()) {
    sim::simulation all(of, algos::catalog(), {.node_of = nodes});
    all.run([](sim::rank& me) -> task<> {
      std::vector<int> values(3, 1);
      // At the deadline those who wait look whether they wait in vain.
      future<> late = start(me.engine(), with_timeout(10us, never()));
      if (me.number() == 0) {
        co_await bcast(me.team(), values, 0);
        co_return;
      }
      co_await bcast(me.team(), values, 0);
    });
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(!all.rank_at(i).failure());
  }
}

// ---- deaths

sim::options with_death(const std::vector<std::size_t>& nodes, std::size_t victim, double at_ns) {
  sim::options how{.node_of = nodes};
  how.faults.deaths.push_back({victim, at_ns});
  return how;
}

TEST_CASE("a rank that dies: the others are told, soon after") {
  for (const auto& nodes : all_shapes()) {
    for (std::size_t victim = 0; victim < 3; ++victim) {
      sim::simulation all(sim::model(), algos::catalog(), with_death(nodes, victim, 300'000));
      all.run([](sim::rank& me) { return work_often(me.team()); });
      const std::string name = "rank " + std::to_string(victim) + " died";
      check_all_fail(all, errc::rank_died, victim, name);
      CHECK(all.rank_at(victim).is_dead());
      for (std::size_t i = 0; i < 3; ++i) {
        if (i == victim) continue;
        CHECK(failures(all)[i]->rank() == victim);
        const double end = sim::to_ns(all.rank_at(i).counted().finished);
        CHECK(end >= 310'000);
        CHECK(end < 1'000'000);
      }
    }
  }
}

TEST_CASE("a rank that dies on a core that others need, whenever it is") {
  sim::model of;
  of.cluster.cores_a_node = 1;
  for (double at_ns = 1000; at_ns < 200'000; at_ns *= 1.3) {
    sim::options how = with_death({0, 0, 0}, 1, at_ns);
    how.faults.deaths.push_back({1, at_ns + 5});  // it is dead already
    sim::simulation all(of, algos::catalog(), how);
    all.run([](sim::rank& me) { return work_often(me.team()); });
    check_all_fail(all, errc::rank_died, 1, "rank 1 died");
  }
}

TEST_CASE("whoever dies after its end is not missed") {
  sim::simulation all(sim::model(), algos::catalog(), with_death({0, 0, 1}, 1, 300'000));
  all.run([](sim::rank& me) -> task<> {
    co_await work(me.team());
    if (me.number() != 1) co_await me.rest(10ms);
  });
  for (std::size_t i = 0; i < 3; ++i) CHECK(!all.rank_at(i).failure());
  CHECK(!all.rank_at(1).is_dead());
}

// ---- time

TEST_CASE("a deadline passes when its virtual time has come") {
  for (const auto& nodes : all_shapes()) {
    sim::simulation all(free_model(), algos::catalog(), {.node_of = nodes});
    all.run([](sim::rank& me) -> task<> {
      if (me.number() == 2) co_await me.rest(1ms);
      if (me.number() == 0) co_await with_timeout(50us, work(me.team()));
      co_await work(me.team());
    });
    check_all_fail(all, errc::deadline_exceeded, no_rank, "passed its deadline");
    check_all_fail(all, errc::deadline_exceeded, 0, "rank 0");
    CHECK(all.rank_at(0).counted().finished == sim::from_ns(50'000));
    CHECK(all.rank_at(1).counted().finished == sim::from_ns(50'000));
    CHECK(all.rank_at(2).counted().finished == sim::from_ns(1'000'000));
  }
}

TEST_CASE("a deadline that is kept changes nothing") {
  std::vector<double> ends[2];
  for (const bool limited : {false, true}) {
    ends[limited] = run(sim::model(), {.node_of = {0, 0, 1}}, [limited](sim::rank& me) {
      return limited ? with_timeout(1s, work(me.team())) : work(me.team());
    });
  }
  CHECK(ends[0] == ends[1]);
}

TEST_CASE("many deadlines that are kept take few events") {
  const sim::options how{.node_of = {0, 0, 1}};
  sim::simulation all(sim::model(), algos::catalog(), how);
  all.run([](sim::rank& me) -> task<> {
    for (int round = 0; round < 30; ++round) {
      std::vector<future<>> running;
      for (int i = 0; i < 10; ++i) {
        const clock_time limit = 10ms + i * 1us;
        running.push_back(start(me.engine(), with_timeout(limit, barrier(me.team()))));
      }
      for (future<>& each : running) co_await each;
      co_await me.rest(1ms);
    }
  });
  for (std::size_t i = 0; i < 3; ++i) CHECK(!all.rank_at(i).failure());
  CHECK(all.events() < 50'000);
}

TEST_CASE("a limit beyond the end of virtual time is none") {
  const auto ends = run(sim::model(), {.node_of = {0, 1}},
                        [](sim::rank& me) { return with_timeout(24h * 36500, work(me.team())); });
  CHECK(ends[0] > 0);
}

TEST_CASE("what fails stops what runs beside it at once") {
  const auto fails = []() -> task<> {
    co_await this_coroutine{};
    throw error(errc::resource, "made up");
  };
  sim::simulation all(sim::model(), algos::catalog(), {.node_of = {0}});
  all.run([&](sim::rank& me) -> task<> {
    const auto rest = [](sim::rank& of, clock_time time) -> task<> { co_await of.rest(time); };
    const auto fail_later = [&]() -> task<> {
      co_await me.rest(1us);
      co_await fails();
    };
    co_await when_all(fail_later(), rest(me, 1s));
  });
  CHECK(all.rank_at(0).failure());
  CHECK(all.rank_at(0).counted().finished < sim::from_ns(2000));
}

// ---- races

/// Rank 0 publishes by hand, rank 1 passes that on, and rank 2 reads what it may read, or may not.
struct publication {
  bool flag_first = false;          ///< rank 0 sets the flag and then, too late, the data
  bool first_reader_reads = true;   ///< rank 1 reads the flag, before it sets its own
  bool second_reader_reads = true;  ///< rank 2 reads rank 1's flag, before it reads the data
};

bool is_premature(const publication& how) {
  sim::simulation all(free_model(), algos::catalog(), {.node_of = {0, 0, 0}, .watch_reads = true});
  const wire::board board = all.rank_at(0).fabric().memory().board();
  std::byte* const shared = board.tiny_stage(0, 0);
  wire::counter& first_flag = board.arrival(0, 0).word;
  wire::counter& second_flag = board.arrival(0, 1).word;
  std::array<std::byte, 64> mine{};
  const auto program = [&](sim::rank& me) -> task<> {
    if (me.number() == 0) {
      if (!how.flag_first) me.copy({shared, 64}, mine.data());
      me.announce(first_flag, 1);
      if (how.flag_first) me.copy({shared, 64}, mine.data());
    } else if (me.number() == 1) {
      co_await until([&] { return first_flag.load() == 1; });
      if (how.first_reader_reads) me.read_flag(&first_flag);
      me.announce(second_flag, 1);
    } else {
      co_await until([&] { return second_flag.load() == 1; });
      if (how.second_reader_reads) me.read_flag(&second_flag);
      std::array<std::byte, 64> read{};
      me.copy(read, shared);
    }
  };
  try {
    all.run(program);
  } catch (const sim::premature_access&) {
    return true;
  }
  return false;
}

TEST_CASE("data may be read by whoever has read its flag, or heard of it from one who has") {
  CHECK_FALSE(is_premature({}));
  CHECK(is_premature({.flag_first = true}));
  CHECK(is_premature({.first_reader_reads = false}));
  CHECK(is_premature({.second_reader_reads = false}));
}

// ---- meetings

TEST_CASE("meetings follow each other with less work between than a flag takes") {
  sim::model of = free_model();
  of.memory.flag_ns = 100;
  for (const auto& nodes : all_shapes()) {
    const auto ends = run(of, {.node_of = nodes}, [](sim::rank& me) -> task<> {
      for (int i = 0; i < 10; ++i) {
        co_await me.meet();
        co_await me.compute(clock_time(me.number() == 1 ? 50 : 0));
      }
      co_await me.meet();
    });
    for (const double end : ends) CHECK(end == 500);
  }
}

TEST_CASE("a meeting takes place without ranks that ended or died") {
  for (const double death : {500.0, 1500.0}) {
    sim::simulation all(free_model(), algos::catalog(), with_death({0, 0, 1, 1}, 3, death));
    all.run([](sim::rank& me) -> task<> {
      if (me.number() == 2) co_return;
      if (me.number() == 0) co_await me.rest(1us);
      co_await me.meet();
      co_await me.rest(1us);
      co_await me.meet();
    });
    for (const std::size_t i : {0, 1, 2}) CHECK(!all.rank_at(i).failure());
    CHECK(all.rank_at(1).counted().finished >= sim::from_ns(2000));
  }
}

TEST_CASE("options that make no sense are refused, with what was expected") {
  const auto check_refused = [](const sim::options& how, std::string_view part) {
    const auto refused = failure_of([&] { sim::simulation(sim::model(), algos::catalog(), how); });
    REQUIRE(refused);
    CHECK(refused->code() == errc::invalid_argument);
    CHECK(says(refused->text(), part));
  };
  sim::options how{.node_of = {0, 1}};
  how.buffers_in_turn = 0;
  check_refused(how, "buffers_in_turn is 0; expected at least 1");
  check_refused(with_death({0, 1}, 2, 5), "rank 2; expected a rank from 0 to 1");
  check_refused(with_death({0, 1}, 1, -5), "faults.deaths.at_ns is -5");
  how = {.node_of = {0, 1}};
  how.faults.repeated = 1.5;
  check_refused(how, "faults.repeated is 1.5");
  how.faults.repeated = 0;
  how.faults.longest_delay_ns = std::numeric_limits<double>::quiet_NaN();
  check_refused(how, "faults.longest_delay_ns is");
  how = {.node_of = {0, std::size_t{1} << 40}};
  check_refused(how, "node_of has node");
  sim::model wrong;
  wrong.network.rails = 0;
  const auto refused =
      failure_of([&] { sim::simulation(wrong, algos::catalog(), {.node_of = {0}}); });
  REQUIRE(refused);
  CHECK(says(refused->text(), "network.rails is 0"));
}

TEST_CASE("blocking is refused, with what to do instead") {
  sim::simulation all(sim::model(), algos::catalog(), {.node_of = {0, 1}});
  all.run([](sim::rank& me) -> task<> {
    start(barrier(me.team())).wait();
    co_return;
  });
  check_all_fail(all, errc::invalid_argument, no_rank, "expected co_await");
}

TEST_CASE("ranks that are still at work when the simulation ends are ended with it") {
  // The victim is stopped half-way, with others' buffers gone before and after its own.
  for (std::size_t victim = 0; victim < 3; ++victim) {
    for (double at_ns = 500; at_ns < 300'000; at_ns *= 1.2) {
      for (const auto& nodes : all_shapes()) {
        sim::options how = with_death(nodes, victim, at_ns);
        how.one_process = true;
        sim::simulation all(sim::model(), algos::catalog(), how);
        all.run([](sim::rank& me) { return work_often(me.team()); });
      }
    }
  }
}

TEST_CASE("survivors whose host dies while they are at work are ended with the simulation") {
  for (double at_ns = 100'000; at_ns < 1'000'000; at_ns *= 1.02) {
    sim::options how = with_death({0, 0, 0, 0}, 1, 20'000);
    how.faults.host_deaths.push_back({.node = 0, .at_ns = at_ns});
    how.one_process = true;
    sim::simulation all(sim::model(), algos::catalog(), how);
    all.run([](sim::rank& me) -> task<> {
      try {
        co_await work_often(me.team());
      } catch (const error& why) {
        if (why.code() == errc::stopped) throw;  // this rank is dead
      }
      const auto rest = co_await shrink(me.team());
      co_await work_often(*rest);
    });
  }
}

}  // namespace
}  // namespace muster::testing
