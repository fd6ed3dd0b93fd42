#include "tools/command/sim/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "tools/command/sim/buffers.hpp"
#include "tools/command/sim/models.hpp"

namespace muster::simulator {
namespace {

using namespace std::chrono_literals;

job job_on(std::string_view machine, std::size_t nodes, std::size_t ranks_a_node) {
  job how;
  how.model = find_model(machine);
  how.nodes = nodes;
  how.ranks_a_node = ranks_a_node;
  how.calls = 3;
  return how;
}

result run(const job& how, const point& at) {
  return run_point(how, at, [](std::uint64_t) {});
}

void check_well(const result& one) {
  CAPTURE(name(one.at.what));
  CAPTURE(one.at.bytes);
  CHECK(one.failure == "");
  CHECK(one.suits);
  CHECK(one.has_figures());
  CHECK(one.median_us > 0);
  CHECK(one.verified == one.payload);
}

TEST_CASE("run: every collective has right results on several nodes") {
  for (const collective what : bench::usual_collectives) {
    for (const std::size_t bytes : {8, 4096, 65536}) {
      const result found =
          run(job_on("connectx_ddr", 3, 2), {what, bench::has_sizes(what) ? bytes : 0, "auto"});
      check_well(found);
      CHECK(found.payload);
      CHECK(found.times_us.size() == 3);
      CHECK(found.waiting_us.size() == 6);
      CHECK(!found.algorithm.empty());
    }
  }
}

TEST_CASE("run: what pairwise alltoall sends is known") {
  for (const std::size_t nodes : {1, 2, 5}) {
    for (const std::size_t each : {1, 3}) {
      constexpr std::size_t bytes = 512;
      const std::size_t others = nodes * each - each;
      const result found =
          run(job_on("hdr100", nodes, each), {collective::alltoall, bytes, "pairwise"});
      check_well(found);
      CHECK(found.algorithm == "pairwise");
      const work& node = found.busiest_node;
      CHECK(node.sends == each * others);
      CHECK(node.sent_bytes == each * others * bytes);
      CHECK(node.connections == each * others);
      CHECK(node.node_sends == each * (each - 1));
      CHECK(node.node_bytes == each * (each - 1) * bytes);
      CHECK(node.shared_written == 0);
      CHECK(node.memory == each * (nodes * each - 1) * 65536);
      CHECK(found.all.sends == nodes * each * others);
      CHECK(found.all.connections == nodes * each * others);
    }
  }
}

TEST_CASE("run: what the flat alltoall of one node copies is known") {
  const result found = run(job_on("colony", 1, 4), {collective::alltoall, 64, "flat"});
  check_well(found);
  CHECK(found.all.sends == 0);
  CHECK(found.all.node_sends == 0);
  CHECK(found.all.shared_written == 4 * 4 * 64);
  CHECK(found.all.shared_read == 4 * 3 * 64);
}

TEST_CASE("run: no rank waits for longer than the call takes") {
  for (const collective what : {collective::barrier, collective::allgather, collective::alltoall}) {
    const result found = run(job_on("infinipath", 3, 4), {what, 64, "auto"});
    check_well(found);
    const double most = *std::max_element(found.times_us.begin(), found.times_us.end());
    for (const double waited : found.waiting_us) {
      CHECK(waited > 0);
      CHECK(waited < most);
    }
  }
}

TEST_CASE("run: without payload it takes the same time and does the same") {
  for (const collective what : bench::usual_collectives) {
    job how = job_on("qsnet2_dual_rail", 3, 3);
    how.late = arrivals::parse("random:mif=8");
    const point at{what, bench::has_sizes(what) ? std::size_t{20000} : 0, "auto"};
    const result with = run(how, at);
    how.payload = false;
    const result without = run(how, at);
    check_well(with);
    check_well(without);
    CHECK(!without.payload);
    CHECK(with.times_us == without.times_us);
    CHECK(with.waiting_us == without.waiting_us);
    CHECK(with.events == without.events);
    CHECK(with.all.memory == without.all.memory);
    CHECK(with.all.shared_read == without.all.shared_read);
  }
}

TEST_CASE("run: payload is left out where it would not fit") {
  const point at{collective::alltoall, std::size_t{64} << 20, "auto"};
  CHECK(call_buffers::bytes(at, 4) == std::size_t{2} << 30);
  job how = job_on("hdr100", 2, 2);
  how.calls = 1;
  const result found = run(how, at);
  check_well(found);
  CHECK(!found.payload);
}

TEST_CASE("run: times come from the seed") {
  job how = job_on("infinihost3", 4, 2);
  how.late = arrivals::parse("random:mif=8");
  const point at{collective::alltoall, 8, "auto"};
  const result once = run(how, at);
  CHECK(run(how, at).times_us == once.times_us);
  how.seed = 2;
  CHECK(run(how, at).times_us != once.times_us);
}

TEST_CASE("run: a barrier waits for those who come late") {
  job how = job_on("connectx_ddr", 2, 2);
  how.late = arrivals::parse("late:share=25%,mif=1");
  how.message_time = 1ms;
  const result found = run(how, {collective::barrier, 0, "auto"});
  check_well(found);
  CHECK(*found.message_time_ns == 1'000'000);
  // Three of four ranks wait for the fourth.
  CHECK(found.median_us > 750);
  CHECK(found.median_us < 800);
}

TEST_CASE("run: a message time is what the model says") {
  const job far = job_on("hdr100", 2, 1);
  const sim::model::network_parameters& network = far.model.network;
  const double fixed =
      network.latency_ns + network.send_overhead_ns + network.receive_overhead_ns + network.gap_ns;
  CHECK(message_time(far, 0).count() == std::llround(fixed));
  CHECK(message_time(far, 1 << 20).count() ==
        std::llround(fixed + (1 << 20) / network.bandwidth_gbs));
  const job near = job_on("hdr100", 1, 2);
  CHECK(message_time(near, 0).count() == std::llround(near.model.memory.flag_ns));
  CHECK(message_time(near, 4096) > message_time(near, 0));
  CHECK(message_time(near, 4096) < message_time(far, 4096));
}

TEST_CASE("run: an algorithm that can't is not run") {
  const result found = run(job_on("colony", 2, 2), {collective::alltoall, 8, "flat"});
  CHECK(!found.suits);
  CHECK(!found.has_figures());
  CHECK(found.failure == "");
}

TEST_CASE("run: a trace is of all that happened") {
  job how = job_on("colony", 2, 2);
  how.traced = true;
  how.calls = 1;
  const result found = run(how, {collective::alltoall, 8, "pairwise"});
  check_well(found);
  std::size_t begun = 0;
  constexpr std::string_view begins = "\"ph\":\"b\"";
  for (std::size_t at = found.trace.find(begins); at != std::string::npos;
       at = found.trace.find(begins, at + 1)) {
    ++begun;
  }
  CHECK(begun == 2 * 4);  // the warm-up and the call, a rank
}

}  // namespace
}  // namespace muster::simulator
