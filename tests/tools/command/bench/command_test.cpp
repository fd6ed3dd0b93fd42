#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/tools/complaint.hpp"
#include "tools/command/bench/bench.hpp"

namespace muster::bench {
namespace {

using namespace std::chrono_literals;

using testing::says;

std::string complaint(std::vector<std::string> arguments) {
  return testing::complaint(add_bench_command, std::move(arguments));
}

TEST_CASE("command: wrong arguments name the option and what was expected") {
  CHECK(says(complaint({"bench", "alltoal"}), "'alltoal' is not a collective; there are: barrier"));
  CHECK(says(complaint({"bench", "--sizes", "12"}), "--sizes: '12' is not a multiple of 8"));
  CHECK(says(complaint({"bench", "-n", "0"}), "--ranks: '0' is not a number of ranks"));
  CHECK(says(complaint({"bench", "--vs", "lam"}), "--vs: 'lam' is not a peer; expected openmpi"));
  CHECK(says(complaint({"bench", "--shim", "openmpi_han"}), "'openmpi_han' is not an MPI"));
  CHECK(says(complaint({"bench", "--shim", "gloo"}), "'gloo' is not an MPI"));
  CHECK(says(complaint({"bench", "--nodes", "0"}), "--nodes"));
  CHECK(
      says(complaint({"bench", "--loop", "x"}), "--loop: 'x' is neither back-to-back nor barrier"));
  CHECK(says(complaint({"bench", "--buffers", "x"}), "--buffers: 'x' is neither changed nor same"));
  CHECK(
      says(complaint({"bench", "--offset", "12"}), "--offset: '12' is not a multiple of 8 below"));
  CHECK(says(complaint({"bench", "--type", "half"}),
             "--type: 'half' is not a type; expected char, int, float or double"));
  CHECK(says(complaint({"bench", "--excluded"}), "--excluded requires --shim"));
  CHECK(says(complaint({"bench", "--torch", "--shim", "mpich"}), "--shim excludes --torch"));
  CHECK(says(complaint({"bench", "--algorithms", "a,,b"}),
             "--algorithms: 'a,,b' is not a list of algorithms; expected ids with commas"));
  CHECK(says(complaint({"bench", "--rounds", "0"}), "--rounds"));
  CHECK(says(complaint({"bench", "--sample-ms", "x"}), "--sample-ms"));
  CHECK(says(complaint({"bench", "--probe-cpus", "1"}), "--probe-cpus"));
  CHECK(says(complaint({"bench", "--arrivals", "late"}), "--arrivals: 'late': it sets no share"));
  CHECK(says(complaint({"bench", "--arrivals", std::string(2000, 'x')}), "expected at most 1023"));
  CHECK(says(complaint({"bench", "--arrivals", "none", "--message-time", "-1"}), "--message-time"));
  CHECK(says(complaint({"bench", "--arrivals", "none", "--seed", "x"}), "--seed"));
  CHECK(says(complaint({"bench", "--seed", "1"}), "--seed requires --arrivals"));
  CHECK(says(complaint({"bench", "--message-time", "1"}), "--message-time requires --arrivals"));
}

TEST_CASE("command: a peer for several hosts is not measured on one machine") {
  options wanted;
  wanted.plot.clear();
  for (const library peer : {library::openmpi_han, library::gloo}) {
    wanted.peers = std::vector{peer};
    CHECK(run_bench(wanted) == 1);
  }
}

TEST_CASE("command: a file that can't be written is found out before measuring") {
  options wanted;
  wanted.plot = "/no/such/folder/plot.svg";
  CHECK(run_bench(wanted) == 1);
}

TEST_CASE("command: a document without a place for the tables is found out before measuring") {
  options wanted;
  wanted.plot.clear();
  wanted.table = "/proc/self/status";
  CHECK(run_bench(wanted) == 1);
}

TEST_CASE("command: recorded arrivals of other ranks are found out before measuring") {
  options wanted;
  wanted.late = arrivals::pattern{"file:two", arrivals::recorded_delays{2, {0ns, 1ns}}};
  CHECK(run_bench(wanted) == 1);
}

TEST_CASE("command: late ranks have a loop of their own, and only what is preloaded is excluded") {
  options wanted;
  wanted.plot.clear();
  wanted.how.calls.excluded = true;
  CHECK(run_bench(wanted) == 1);
  wanted.how.calls = {.between_barriers = true};
  wanted.late = arrivals::parse("none");
  CHECK(run_bench(wanted) == 1);
}

TEST_CASE("command: more nodes than ranks, and unknown algorithms, are found out first") {
  options wanted;
  wanted.plot.clear();
  wanted.ranks = {8, 2};
  wanted.nodes = 3;
  CHECK(run_bench(wanted) == 1);
  wanted.nodes = 2;
  wanted.algorithms = {"no such"};
  CHECK(run_bench(wanted) == 1);
  wanted.algorithms = {"auto:" + std::string(100, 'x')};
  CHECK(run_bench(wanted) == 1);
}

TEST_CASE("command: the help tells how it is measured") {
  CLI::App command("muster");
  add_bench_command(command, [](int) {});
  const std::string help = command.get_subcommand("bench")->help();
  for (const char* word : {"--sizes", "--vs", "--json", "--plot", "--table", "--arrivals",
                           "--nodes", "--algorithms", "--loop", "--buffers", "--type", "--excluded",
                           "Examples", "ratio", "limit", "reduce_scatter"}) {
    CAPTURE(word);
    CHECK(says(help, word));
  }
}

}  // namespace
}  // namespace muster::bench
