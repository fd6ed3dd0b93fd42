// Ranks of several made-up machines, which reach each other by TCP: short and long messages, teams,
// failures, ends.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <muster/environment/environment.hpp>
#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/machines.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

thread_options over_tcp(std::vector<std::size_t> node_of) {
  return {.node_of = std::move(node_of), .network = between_nodes::tcp};
}

/// A variable of the environment, for the life of the object.
class setting {
public:
  setting(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~setting() { ::unsetenv(name_); }
  setting(const setting&) = delete;
  setting& operator=(const setting&) = delete;

private:
  const char* name_;
};

void exchange(team& of, std::size_t count) {
  std::vector<int> sent(count * of.size());
  std::iota(sent.begin(), sent.end(), static_cast<int>(of.rank() * 1000));
  std::vector<int> received(sent.size());
  start(alltoall(of, sent, received)).wait();
  for (std::size_t from = 0; from < of.size(); ++from) {
    const auto first = static_cast<int>(from * 1000 + of.rank() * count);
    CHECK(received[from * count] == first);
    CHECK(received[from * count + count - 1] == first + static_cast<int>(count) - 1);
  }
}

TEST_CASE("short and long messages") {
  for (const auto& nodes : machine_layouts()) {
    const watchdog alive("messages over TCP");
    run_threads(
        nodes.size(),
        [](team& of) {
          for (int i = 0; i < 50; ++i) sum_of_ones(of);
          for (const std::size_t count : {1, 100, 10'000, 300'000}) exchange(of, count);
        },
        over_tcp(nodes));
  }
}

TEST_CASE("buffers stay within the memory for links, and messages go on") {
  const watchdog alive("little memory for links");
  constexpr std::size_t bytes = std::size_t{256} << 10;
  const setting little(environment::link_memory.name, std::to_string(bytes));
  for (const std::size_t connections : {1, 2}) {
    thread_options options = over_tcp({0, 1, 1, 2});
    options.connections = connections;
    run_threads(
        4,
        [&](team& of) {
          CHECK(of.memory_bytes().links <= bytes);
          for (const std::size_t count : {1, 1'000, 100'000}) exchange(of, count);
        },
        options);
  }
}

TEST_CASE("teams of teams, alive at once") {
  const watchdog alive("teams over TCP");
  run_threads(
      4,
      [](team& of) {
        const auto copy = start(duplicate(of)).wait();
        const auto half = start(split(of, static_cast<int>(of.rank() % 2), 0)).wait();
        for (int i = 0; i < 20; ++i) {
          sum_of_ones(*copy);
          exchange(*half, 20'000);
          sum_of_ones(of);
        }
      },
      over_tcp({0, 0, 1, 1}));
}

TEST_CASE("a rank that sends and leaves has sent") {
  const watchdog alive("a rank that leaves");
  for (int i = 0; i < 20; ++i) {
    run_threads(
        2,
        [](team& of) {
          std::vector<int> values(100'000, of.rank() == 0 ? 7 : 0);
          start(bcast(of, values, 0)).wait();
          if (of.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
          CHECK(values.back() == 7);
        },
        over_tcp({0, 1}));
  }
}

TEST_CASE("a rank of another machine that is gone is named") {
  const watchdog alive("a rank that is gone");
  run_threads(
      3,
      [](team& of) {
        sum_of_ones(of);
        if (of.rank() == 2) return;
        const auto why = failure_of([&] { sum_of_ones(of); });
        REQUIRE(why);
        INFO(std::string(why->what()));
        CHECK(why->rank() == 2);
        CHECK(why->code() == errc::rank_left);
      },
      over_tcp({0, 0, 1}));
}

TEST_CASE("an exception of a rank breaks the job on other machines") {
  const watchdog alive("an exception");
  const auto why = [] {
    try {
      run_threads(
          3,
          [](team& of) {
            sum_of_ones(of);
            if (of.rank() == 1) throw std::runtime_error("no more");
            sum_of_ones(of);
          },
          over_tcp({0, 1, 1}));
    } catch (const std::exception& one) {
      return std::string(one.what());
    }
    return std::string();
  }();
  CHECK(why.find("no more") != std::string::npos);
}

TEST_CASE("different calls of ranks on different machines are an error on both") {
  const watchdog alive("a mismatch");
  run_threads(
      2,
      [](team& of) {
        const auto copy = start(duplicate(of)).wait();
        std::vector<int> values(of.rank() == 0 ? 4 : 5, 1);
        const auto why = failure_of([&] {
          start(allreduce(*copy, values, sum)).wait();
          start(barrier(*copy)).wait();
        });
        REQUIRE(why);
        INFO(std::string(why->what()));
        CHECK(why->code() == errc::mismatched_call);
        // Whoever finds it, and whoever is told.
        CHECK(why->text().find("allreduce(4 x int32, sum) on rank 0") != std::string::npos);
        CHECK(why->text().find("allreduce(5 x int32, sum) on rank 1") != std::string::npos);
        sum_of_ones(of);
      },
      over_tcp({0, 1}));
}

/// Both sides of a mismatch that a message's head shows, however long the message.
void check_names_both(const std::function<void(team&)>& calls, std::string_view of_rank_0,
                      std::string_view of_rank_1) {
  const watchdog alive("a mismatch of heads");
  run_threads(
      2,
      [&](team& of) {
        const auto copy = start(duplicate(of)).wait();
        const auto why = failure_of([&] { calls(*copy); });
        REQUIRE(why);
        INFO(std::string(why->what()));
        CHECK(why->code() == errc::mismatched_call);
        CHECK(why->text().find(of_rank_0) != std::string::npos);
        CHECK(why->text().find(of_rank_1) != std::string::npos);
        sum_of_ones(of);  // an answer that was asked for late
      },
      over_tcp({0, 1}));
}

TEST_CASE("a mismatch that a message's head shows names both calls") {
  check_names_both(
      [](team& of) {
        const std::vector<int> sent(of.rank() == 0 ? 8 : 70'000, 1);
        std::vector<int> received(sent.size());
        start(alltoall(of, sent, received)).wait();
      },
      "alltoall(4 x int32) on rank 0", "alltoall(35000 x int32) on rank 1");
  check_names_both(
      [](team& of) {
        std::vector<int> values(of.rank() == 0 ? 100'000 : 200'000, 1);
        start(bcast(of, values, 0)).wait();
        start(barrier(of)).wait();
      },
      "bcast(100000 x int32, root 0) on rank 0", "bcast(200000 x int32, root 0) on rank 1");
  check_names_both(
      [](team& of) {
        std::vector<int> values(2, 1);
        if (of.rank() == 0) start(allreduce(of, values, sum)).wait();
        start(barrier(of)).wait();
      },
      "allreduce(2 x int32, sum) on rank 0", "barrier() on rank 1");
}

TEST_CASE("calls that wait for each other without a message are an error") {
  const watchdog alive("a mismatch without a message");
  run_threads(
      2,
      [](team& of) {
        const auto copy = start(duplicate(of)).wait();
        std::array<int, 1> value = {1};
        // Each waits for the other's data.
        const auto why = failure_of([&] { start(bcast(*copy, value, 1 - of.rank())).wait(); });
        REQUIRE(why);
        INFO(std::string(why->what()));
        CHECK(why->code() == errc::mismatched_call);
        CHECK(std::string_view(why->what()).find("bcast") != std::string_view::npos);
      },
      over_tcp({0, 1}));
}

}  // namespace
}  // namespace muster::testing
