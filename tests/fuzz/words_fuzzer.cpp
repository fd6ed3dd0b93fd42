// What launchers, process managers and users say in words: places to meet, PMI's answers, lists of
// algorithms, hosts and arrivals, and command lines. The first byte says which.

#include <sys/socket.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/fuzz/sockets.hpp"
#include "tools/command/arrivals/command.hpp"
#include "tools/command/bench/bench.hpp"
#include "tools/command/check/check.hpp"
#include "tools/command/mpirun/words.hpp"
#include "tools/command/run/launch.hpp"
#include "tools/command/shared/algorithms.hpp"
#include "tools/command/shared/arrivals.hpp"
#include "tools/command/sim/sim.hpp"
#include "tools/command/tune/tune.hpp"
#include "tools/library/launcher/pmi_wire.hpp"
#include "tools/library/launcher/words.hpp"

namespace muster::fuzz {
namespace {

void read_launchers_words(const std::string& text) {
  std::string_view left = text;
  std::size_t parts = 0;
  while (!left.empty()) {
    const std::string part(launcher::next_part(left, ','));
    require(++parts <= text.size() + 1, "a text has an end");
    try {
      constexpr std::size_t most = 1000;
      require(launcher::parse_number(part, "RANKS", most) <= most, "a number has a limit");
    } catch (const error& why) {
      require(why.code() == errc::bootstrap, "a wrong number is an error of joining");
    }
    try {
      cluster::meeting_place place;
      launcher::parse_place(part, "MUSTER_RENDEZVOUS", place);
      require(!place.hosts.empty() && !place.hosts[0].empty(), "a place has a host");
    } catch (const error& why) {
      require(why.code() == errc::bootstrap, "a wrong place is an error of joining");
    }
  }
}

void look_for_fields(const std::string& text) {
  for (const char separator : {' ', ';'}) {
    const std::string_view found = launcher::pmi_field(text, "value", separator);
    require(found.size() <= text.size(), "a field is of the text");
    launcher::pmi_number(std::string(found).c_str());
  }
}

/// What a process manager answers, and then its end.
void ask_manager(const std::string& answers) {
  auto [ours, its] = connected_pair();
  const std::string number = std::to_string(ours.get());
  ::setenv("PMI_FD", number.c_str(), 1);
  const auto wire = launcher::pmi_wire::find();
  ::unsetenv("PMI_FD");
  require(wire.has_value(), "the socket is found");
  const auto bytes = std::as_bytes(std::span(answers));
  say(its.get(), bytes);
  ::shutdown(its.get(), SHUT_WR);
  const std::string line = wire->ask_line("cmd=get");
  require(line.find('\n') == std::string::npos, "a line is one");
  for (int i = 0; i < 2; ++i) {
    require(wire->ask_text("cmd=get;").size() <= answers.size(), "no more than was said");
  }
}

/// Calls `parse(text)`, which may throw what it says and nothing else.
template <class Exception, class Parse>
void read(const std::string& text, Parse parse) {
  try {
    parse(text);
  } catch (const Exception& why) {
    require(*why.what() != '\0', "what is wrong is told");
  }
}

/// Arguments in lines. Nothing is begun: an argument is asked for that nobody gives.
void read_command_line(const std::string& text) {
  CLI::App command("muster");
  const auto done = [](int) { require(false, "no command is run"); };
  bench::add_bench_command(command, done);
  tune::add_tune_command(command, done);
  simulator::add_sim_command(command, done);
  check::add_check_command(command, done);
  profile::add_arrivals_command(command, done);
  for (CLI::App* each : command.get_subcommands({})) each->add_option("--not-given")->required();

  std::vector<std::string> arguments;
  std::string_view left = text;
  while (!left.empty()) arguments.emplace_back(launcher::next_part(left, '\n'));
  std::ranges::reverse(arguments);  // as CLI11 takes them
  try {
    command.parse(std::move(arguments));
  } catch (const CLI::Error&) {
    return;
  }
}

/// A launcher's command line, a word a line, of either MPI.
void read_launcher_line(const std::string& text, mpirun::mpi as) {
  std::vector<std::string> words;
  std::string_view left = text;
  while (!left.empty()) words.emplace_back(launcher::next_part(left, '\n'));
  std::vector<mpirun::part> parts = mpirun::split(words, as);
  require(!parts.empty(), "a line has a part");
  mpirun::ranks_asked_for(parts, as);
  for (mpirun::part& each : parts) {
    mpirun::folder_of(each, as);
    mpirun::options_of(each, as);
    mpirun::preload(each, "libfuzz.so", as, &each == parts.data());
  }
  require(!parts[0].options.empty(), "whoever preloads is told so");
}

void run(input& in) {
  constexpr std::uint8_t kinds = 9;
  const auto kind = in.take<std::uint8_t>() % kinds;
  const std::string text = in.take_text();
  switch (kind) {
    case 0:
      return read_launchers_words(text);
    case 1:
      return look_for_fields(text);
    case 2:
      return ask_manager(text);
    case 3:
      return read<std::invalid_argument>(text, bench::parse_algorithms);
    case 4:
      return read<std::invalid_argument>(text, arrivals::parse);
    case 5:
      return read<error>(text, launch::parse_hosts);
    case 6:
      return read_launcher_line(text, mpirun::mpi::openmpi);
    case 7:
      return read_launcher_line(text, mpirun::mpi::mpich);
    default:
      return read_command_line(text);
  }
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fuzz::input in(data, size);
  muster::fuzz::run(in);
  return 0;
}
