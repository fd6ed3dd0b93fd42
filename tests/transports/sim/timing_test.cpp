// What things take, against formulas worked out by hand.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <vector>

#include <muster/api/collectives.hpp>
#include <muster/run/context.hpp>

#include "tests/transports/sim/run.hpp"
#include "transports/sim/channel.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

task<> send(sim::rank& me, std::size_t to, std::size_t bytes) {
  const wire::open_link out(me.fabric().links(), 0, to, wire::links::purpose::send);
  const std::vector<std::byte> body(bytes);
  out->send({}, body);
  co_await until([&] { return out->has_left(); });
}

task<> receive(sim::rank& me, std::size_t from, std::size_t bytes) {
  const wire::open_link in(me.fabric().links(), 0, from, wire::links::purpose::receive);
  std::vector<std::byte> body(bytes);
  co_await until([&] { return in->holds(bytes); });
  in->take(body);
}

/// Rank 0 sends, rank 1 on another node receives.
sim::simulation::program one_message(std::size_t bytes) {
  return [bytes](sim::rank& me) {
    return me.number() == 0 ? send(me, 1, bytes) : receive(me, 0, bytes);
  };
}

const sim::options two_nodes{.node_of = {0, 1}};

sim::model network_model() {
  sim::model of = free_model();
  of.network.latency_ns = 1000;
  of.network.send_overhead_ns = 100;
  of.network.receive_overhead_ns = 70;
  of.network.gap_ns = 10;
  of.network.bandwidth_gbs = 2;
  return of;
}

TEST_CASE("a short message between idle nodes: overheads, latency, gap") {
  CHECK(run(network_model(), two_nodes, one_message(8))[1] == 100 + 1000 + 10 + 70);
}

TEST_CASE("a longer one: its size over the bandwidth, and copies in and out") {
  sim::model of = network_model();
  of.network.copy_to_bytes = 4096;
  of.memory.core_copy_gbs = of.memory.other_core_gbs = 8;
  of.core.copy_call_ns = 5;
  const auto ends = run(of, two_nodes, one_message(400));
  CHECK(ends[0] == 100 + 50);
  CHECK(ends[1] == 100 + 50 + 1000 + 200 + 70 + 5 + 50);
}

TEST_CASE("moved by the interface: registered, and away when it has left") {
  sim::model of = network_model();
  of.memory.register_ns = 300;
  of.memory.register_page_ns = 40;
  const auto ends = run(of, two_nodes, one_message(8192));
  CHECK(ends[0] == 100 + 300 + 80 + 4096);
  CHECK(ends[1] == 100 + 300 + 80 + 1000 + 4096 + 70);
}

TEST_CASE("moved by the core: it is busy meanwhile") {
  sim::model of = network_model();
  of.network.moved_by = sim::model::mover::core;
  of.network.core_push_gbs = 0.5;
  const auto ends = run(of, two_nodes, one_message(100));
  CHECK(ends[0] == 100 + 200);
  CHECK(ends[1] == 100 + 200 + 1000 + 50 + 70);
}

TEST_CASE("moved by both: short ones by the core, long ones by the interface") {
  sim::model of = network_model();
  of.network.moved_by = sim::model::mover::both;
  of.network.core_push_gbs = 0.5;
  of.network.core_push_to_bytes = 100;
  CHECK(run(of, two_nodes, one_message(100))[0] == 100 + 200);
  CHECK(run(of, two_nodes, one_message(102))[0] == 100 + 51);
}

/// Ranks 0 and 1 of one node each send to a rank of another one.
sim::simulation::program two_messages(std::size_t bytes) {
  return [bytes](sim::rank& me) {
    return me.number() < 2 ? send(me, me.number() + 2, bytes) : receive(me, me.number() - 2, bytes);
  };
}

const sim::options two_pairs{.node_of = {0, 0, 1, 2}};

TEST_CASE("two senders share an interface") {
  const auto ends = run(network_model(), two_pairs, two_messages(20'000));
  CHECK(ends[2] == 100 + 1000 + 10'000 + 70);
  CHECK(ends[3] == 100 + 1000 + 2 * 10'000 + 70);
}

TEST_CASE("two receivers share one, too") {
  const sim::options how{.node_of = {0, 1, 2, 2}};
  const auto ends = run(network_model(), how, two_messages(20'000));
  CHECK(ends[2] == 100 + 1000 + 10'000 + 70);
  CHECK(ends[3] == 100 + 1000 + 2 * 10'000 + 70);
}

TEST_CASE("on two rails neither waits for the other; divided, one takes half as long") {
  sim::model of = network_model();
  of.network.rails = 2;
  const auto ends = run(of, two_pairs, two_messages(20'000));
  CHECK(ends[2] == 100 + 1000 + 10'000 + 70);
  CHECK(ends[3] == ends[2]);
  of.network.stripe_from_bytes = 20'000;
  CHECK(run(of, two_nodes, one_message(20'000))[1] == 100 + 1000 + 5'000 + 70);
}

TEST_CASE("a queue pair that neither interface holds costs both") {
  sim::model of = network_model();
  of.network.queue_pairs_cached = 4;
  of.network.queue_pair_miss_ns = 500;
  CHECK(run(of, two_nodes, one_message(8))[1] == 100 + 1000 + 10 + 70 + 2 * 500);
}

/// Rank 0 sends rank 1 a message, and gets one back.
task<> there_and_back(sim::rank& me) {
  const std::size_t other = 1 - me.number();
  if (me.number() == 0) co_await send(me, other, 8);
  co_await receive(me, other, 8);
  if (me.number() == 1) co_await send(me, other, 8);
}

TEST_CASE("one queue pair serves both ways") {
  sim::model of = network_model();
  of.network.queue_pairs_cached = 4;
  of.network.queue_pair_miss_ns = 500;
  CHECK(run(of, two_nodes, there_and_back)[0] == 2 * (100 + 1000 + 10 + 70) + 2 * 500);
}

TEST_CASE("a message within a node goes through memory") {
  sim::model of = network_model();
  of.memory.core_copy_gbs = of.memory.other_core_gbs = 8;
  of.core.copy_call_ns = 5;
  of.memory.flag_ns = 90;
  CHECK(run(of, {.node_of = {0, 0}}, one_message(400))[1] == 5 + 50 + 90 + 5 + 50);
}

TEST_CASE("so does one in place, where the kernel cannot copy") {
  sim::model of = network_model();
  of.memory.core_copy_gbs = of.memory.other_core_gbs = 8;
  of.memory.flag_ns = 90;
  const auto in_place = [](sim::rank& me) -> task<> {
    const wire::open_link used(me.fabric().links(), 0, 1 - me.number(), wire::links::purpose::send);
    std::vector<std::byte> body(400);
    if (me.number() == 0) {
      used->put({}, body);
    } else {
      co_await until([&] { return used->holds(1); });
      used->begin_taking(body);
      CHECK(used->body() == wire::link::body_state::in_place);
    }
  };
  CHECK(run(of, {.node_of = {0, 0}}, in_place)[1] == 50 + 90 + 50);
  of.memory.kernel_copy_gbs = 4;
  of.memory.kernel_copy_call_ns = 30;
  CHECK(run(of, {.node_of = {0, 0}}, in_place)[1] == 90 + 30 + 100);
}

// ---- within a rank and a node

task<> announce_or_see(sim::rank& me, clock_time after) {
  wire::counter& word = me.fabric().memory().board().completion(0).upto;
  if (me.number() == 0) {
    co_await me.rest(after);
    me.announce(word, 1);
  } else {
    co_await until([&] { return word.load() == 1; });
  }
}

TEST_CASE("a flag is seen after its time") {
  sim::model of = free_model();
  of.memory.flag_ns = 90;
  const sim::options how{.node_of = {0, 0, 0}};
  const auto ends = run(of, how, [](sim::rank& me) { return announce_or_see(me, 0ns); });
  CHECK(ends == std::vector<double>{0, 90, 90});
}

/// All ranks but the first change a line at once, each after it has announced something.
task<> announce_and_change(sim::rank& me) {
  if (me.number() == 0) co_return;
  me.announce(me.fabric().memory().board().completion(me.number()).upto, 1);
  const wire::counter& changed = me.fabric().memory().board().arrival_counter(0).counted_in;
  if (me.take_line(&changed)) co_await wire::work_wait(&me.fabric());
}

TEST_CASE("a line that several change travels from each to the next") {
  sim::model of = free_model();
  of.memory.flag_ns = 90;
  const sim::options how{.node_of = {0, 0, 0, 0}};
  const auto ends = run(of, how, announce_and_change);
  CHECK(ends == std::vector<double>{0, 90.001, 180.001, 270.001});
}

/// Posts a segment, and waits for it.
task<> hear_itself(context& me, const arguments&) {
  me.arrive();
  pipeline notes(me, 0, segments(0, 1));
  notes.post(0);
  co_await notes.arrived(me.node_index(), 0);
}
bool always(const shape&, const machine&, const arguments&) { return true; }
stage_kind pipelines(const shape&, const machine&, const arguments&) { return stage_kind::lengthy; }

TEST_CASE("what a rank has said itself it need not hear") {
  const algorithm row = {.id = "hear_itself",
                         .what = collective::barrier,
                         .summary = "posts a segment, and waits for it",
                         .source = "this test",
                         .suits = always,
                         .stages = pipelines,
                         .run = hear_itself};
  sim::model of = free_model();
  of.memory.flag_ns = 90;
  sim::simulation all(of, catalog({&row, 1}), {.node_of = {0, 0}});
  all.run([](sim::rank& me) { return barrier(me.team()); });
  CHECK(all.rank_at(0).counted().finished == 0);
}

TEST_CASE("computing and resting take their time, wherever the time is") {
  const auto ends = run(free_model(), {.node_of = {0, 1}}, [](sim::rank& me) -> task<> {
    co_await me.compute(300ns);
    co_await me.rest(200ns);
    co_await me.compute(clock_time(me.number()));
    CHECK(me.now() == clock_time(500 + me.number()));
  });
  CHECK(ends == std::vector<double>{500, 501});
}

TEST_CASE("all who meet go on when the last has come") {
  const auto ends = run(free_model(), {.node_of = {0, 0, 1}}, [](sim::rank& me) -> task<> {
    co_await me.rest(clock_time(me.number() * 700));
    co_await me.meet();
    co_await me.rest(1ns);
    co_await me.meet();
  });
  CHECK(ends == std::vector<double>{1401, 1401, 1401});
}

TEST_CASE("a copy and a combination: the call, and the size over the rate") {
  sim::model of = free_model();
  of.memory.core_copy_gbs = 4;
  of.memory.combine_gbs = 2;
  of.core.copy_call_ns = 5;
  const auto ends = run(of, {.node_of = {0}}, [](sim::rank& me) -> task<> {
    std::array<std::byte, 400> a{};
    std::array<std::byte, 400> b{};
    me.copy(a, b.data());
    CHECK(me.now() == 105ns);
    arguments call;
    call.what = collective::allreduce;
    call.type = datatype::int32;
    call.op = sum;
    const std::array<const std::byte*, 3> from = {a.data(), b.data(), b.data()};
    me.combine(call, a.data(), from, 100);  // two combinations of 400 bytes
    co_return;
  });
  CHECK(ends[0] == 105 + 5 + 400);
}

TEST_CASE("a collective of one rank costs its call") {
  sim::model of = free_model();
  of.core.call_ns = 60;
  const auto ends = run(of, {.node_of = {0}}, [](sim::rank& me) { return barrier(me.team()); });
  CHECK(ends[0] == 60);
}

TEST_CASE("ranks that share a core run in turns, and each turn costs") {
  sim::model of = free_model();
  of.cluster.cores_a_node = 1;
  of.core.switch_ns = of.core.crowded_switch_ns = 1000;
  const auto compute = [](sim::rank& me) -> task<> { co_await me.compute(300ns); };
  CHECK(run(of, {.node_of = {0, 0, 0}}, compute) == std::vector<double>{300, 1600, 2900});
  of.cluster.cores_a_node = 3;
  CHECK(run(of, {.node_of = {0, 0, 0}}, compute) == std::vector<double>{300, 300, 300});
}

TEST_CASE("who slept has to be woken, by whoever has something for it") {
  sim::model of = free_model();
  of.memory.flag_ns = 90;
  of.core.wake_ns = 5000;
  of.core.system_call_ns = 400;
  const sim::options how{.node_of = {0, 0}};
  const auto soon = run(of, how, [](sim::rank& me) { return announce_or_see(me, 1us); });
  CHECK(soon[1] == 1090);
  const auto late = run(of, how, [](sim::rank& me) { return announce_or_see(me, 20ms); });
  CHECK(late[1] == 20'000'000 + 90 + 5000);
}

TEST_CASE("jitter makes things longer, by its share at most") {
  sim::model of = free_model();
  of.memory.flag_ns = 1000;
  of.jitter = 0.5;
  bool varies = false;
  double before = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const sim::options how{.node_of = {0, 0}, .seed = seed};
    const double end = run(of, how, [](sim::rank& me) { return announce_or_see(me, 0ns); })[1];
    CHECK(end >= 1000);
    CHECK(end < 1500);
    varies = varies || (seed > 1 && end != before);
    before = end;
  }
  CHECK(varies);
}

}  // namespace
}  // namespace muster::testing
