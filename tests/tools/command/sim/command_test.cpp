#include <doctest/doctest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "tests/tools/complaint.hpp"
#include "tools/command/sim/sim.hpp"

namespace muster::simulator {
namespace {

using testing::says;

std::string complaint(std::vector<std::string> arguments) {
  return testing::complaint(add_sim_command, std::move(arguments));
}

TEST_CASE("command: wrong arguments name the option and what was expected") {
  CHECK(says(complaint({"sim", "alltoal"}), "'alltoal' is not a collective; there are: barrier"));
  CHECK(says(complaint({"sim", "--machine", "x"}), "--machine: 'x' is not a machine; there are"));
  CHECK(says(complaint({"sim", "--machine", "/no.json"}), "--machine: "));
  CHECK(says(complaint({"sim", "--sizes", "12"}), "--sizes: '12' is not a multiple of 8"));
  CHECK(says(complaint({"sim", "--algorithms", "ports=2"}), "'ports=2' is not a list of algo"));
  CHECK(says(complaint({"sim", "--nodes", "0"}), "--nodes"));
  CHECK(says(complaint({"sim", "--ppn", "x"}), "--ppn"));
  CHECK(says(complaint({"sim", "--ppn", "1025"}), "--ppn: Value 1025 not in range 1 to 1024"));
  CHECK(says(complaint({"sim", "--calls", "0"}), "--calls"));
  CHECK(says(complaint({"sim", "--seed", "x"}), "--seed"));
  CHECK(says(complaint({"sim", "--arrivals", "late"}), "--arrivals: 'late': it sets no share"));
  CHECK(says(complaint({"sim", "--message-time", "1"}), "--message-time requires --arrivals"));
}

TEST_CASE("command: the help tells how it is measured") {
  CLI::App command("muster");
  add_sim_command(command, [](int) {});
  const std::string help = command.get_subcommand("sim")->help();
  for (const char* word : {"--machine", "hdr100", "--sizes", "--json", "--trace", "Examples"}) {
    CAPTURE(word);
    CHECK(says(help, word));
  }
}

}  // namespace
}  // namespace muster::simulator
