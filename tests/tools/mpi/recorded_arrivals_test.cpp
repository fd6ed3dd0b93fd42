#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include <muster/run/arrival_log.hpp>

#include "tools/conformance/watchdog.hpp"
#include "tools/mpi/report.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using mpi::balance;
using mpi::form;
using mpi::kind;
using mpi::routine_of;

constexpr kind barriers{routine_of(collective::barrier), form::blocking};
constexpr kind ibarriers{routine_of(collective::barrier), form::nonblocking};

/// What is found of ranks that record, and name their calls by their labels.
std::map<std::string, balance> judge(std::size_t ranks,
                                     const std::function<void(team&, arrival_log&)>& body) {
  const watchdog alive("arrivals of the shim");
  std::vector<std::string> records(ranks);
  run_threads(ranks, [&](team& of) {
    arrival_log log(of.engine());
    of.record_arrivals(&log);
    body(of, log);
    of.record_arrivals(nullptr);
    std::vector<arrival_log::site> sites = log.sites();
    for (arrival_log::site& one : sites) one.what = kind::numbered(one.label).name();
    records[of.rank()] = mpi::write_arrivals(of, std::move(sites));
  });
  return mpi::judge_arrivals(records);
}

TEST_CASE("shim: the same calls in two forms are judged apart") {
  const std::map<std::string, balance> all = judge(3, [](team& of, arrival_log& log) {
    log.label(barriers.number());
    start(barrier(of)).wait();
    log.label(ibarriers.number());
    for (int i = 0; i < 4; ++i) {
      if (of.rank() == 2) std::this_thread::sleep_for(20ms);
      start(barrier(of)).wait();
    }
  });
  REQUIRE(all.size() == 2);
  CHECK(all.at("barrier").calls == 1);
  const balance& late = all.at("ibarrier");
  CHECK(late.calls == 4);
  CHECK(late.worst_case > late.average_case);
  CHECK(late.average_case > 0);
  CHECK(late.most >= late.worst_case);
  CHECK(late.time_ns > 10e6);  // two of three wait for 20 ms
}

TEST_CASE("shim: of many calls a sample is looked at, the same of all ranks") {
  constexpr int calls = 5000;
  const std::map<std::string, balance> all = judge(2, [](team& of, arrival_log& log) {
    log.label(barriers.number());
    for (int i = 0; i < calls; ++i) start(barrier(of)).wait();
  });
  REQUIRE(all.size() == 1);
  CHECK(all.at("barrier").calls == calls);
  CHECK(all.at("barrier").time_ns > 0);
}

TEST_CASE("shim: a rank alone has no imbalance") {
  CHECK(judge(1, [](team& of, arrival_log&) { start(barrier(of)).wait(); }).empty());
}

}  // namespace
}  // namespace muster::testing
