#include "tools/command/mpirun/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "tools/command/mpirun/plan.hpp"

namespace muster::mpirun {
namespace {

constexpr const char* footer =
    "ARGS are those of the MPI's own mpirun: options, program, further parts behind colons. All "
    "are\n"
    "passed on. Which MPI it is, the program tells by the libraries that it needs (a script by "
    "its\n"
    "interpreter, Python by its mpi4py; otherwise it is that of the mpirun in PATH), or --mpi.\n"
    "To them are added\n"
    "  - Muster's library, preloaded behind whatever LD_PRELOAD or ARGS preload\n"
    "  - where there are more ranks than cores, and unless ARGS or the environment say otherwise:\n"
    "    Open MPI   --oversubscribe --map-by core --bind-to core:overload-allowed\n"
    "               --mca mpi_yield_when_idle 1\n"
    "    MPICH      -bind-to core, and a library that makes its ranks yield, preloaded\n"
    "  - --allow-run-as-root, for Open MPI, if root runs it\n"
    "This process becomes the launcher, whose exit status it is.\n\n"
    "  muster mpirun -n 16 ./solve input.txt\n"
    "  muster mpirun -n 4 python3 solve.py\n"
    "  muster mpirun --mpi mpich -n 4 ./wrapper.sh";

struct options {
  std::string which;
  bool print = false;
};

std::optional<mpi> named(const std::string& which) {
  for (const mpi each : {mpi::openmpi, mpi::mpich}) {
    if (name_of(each) == which) return each;
  }
  return std::nullopt;
}

/// For a shell to read.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string result = "'";
  for (const char letter : word) {
    if (letter == '\'') result += "'\\'";
    result += letter;
  }
  return result + "'";
}

void print(const words& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    fmt::print("{}{}", i == 0 ? "" : " ", quoted(command[i]));
  }
  fmt::print("\n");
}

[[noreturn]] void become(const words& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Open MPI's launcher takes a path by which it is called for a wish as to where it looks for its
  // parts, and fails where that is `/bin`.
  std::string name = std::filesystem::path(command[0]).filename();
  arguments[0] = name.data();
  execv(command[0].c_str(), arguments.data());
  throw std::runtime_error(fmt::format("mpirun: {}: {}", command[0], std::strerror(errno)));
}

void run(words said, const options& what) {
  if (!said.empty() && said.front() == "--") said.erase(said.begin());
  const words command = plan(said, named(what.which), environment_facts::read());
  if (what.print) return print(command);
  become(command);
}

}  // namespace

void add_mpirun_command(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("mpirun", "start an unchanged MPI program with Muster's collectives");
  command->footer(footer);
  // Not -h, for -host and -hostfile begin with it.
  command->set_help_flag("--help", "print this help message and exit");
  const auto what = std::make_shared<options>();
  command->add_option("--mpi", what->which, "the MPI, instead of what the program tells")
      ->check(CLI::IsMember({"openmpi", "mpich"}));
  command->add_flag("--print,--dry-run", what->print,
                    "print the launcher's command, and start nothing");
  command->prefix_command();
  command->callback([command, what] { run(command->remaining(), *what); });
}

}  // namespace muster::mpirun
