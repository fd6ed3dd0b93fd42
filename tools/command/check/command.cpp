// The command line of `muster check`.

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/command/catalog/option.hpp"
#include "tools/command/check/check.hpp"

namespace muster::check {
namespace {

constexpr const char* details = R"(
Calls each algorithm with everything that it says it can run, as Muster's own tests do: many lengths,
types and reductions, in place and not, with every root, on teams of 1 to 9 ranks on one node and on
several made-up ones, with ranks that come late and several operations in flight. Every element is
checked, and what lies around the buffers. First under virtual time, where a deadlock is named and a
read that comes too early is seen, then with threads, then with processes.

With --catalog those of the library are checked, else Muster's own. What fails prints the seed with
which it can be seen again.

Examples:
  muster check --catalog mine.so
  muster check --catalog mine.so mine --seed 7
  muster check allgather:ring
)";

}  // namespace

void add_check_command(CLI::App& command, std::function<void(int)> done) {
  CLI::App* const check = command.add_subcommand(
      "check", "Check that algorithms are right, with threads, processes and under virtual time");
  check->footer(details);
  const auto wanted = std::make_shared<options>();
  check
      ->add_option("ALGORITHMS,--algorithm", wanted->names,
                   "which: ids, or collectives and ids, as in allgather:ring (default: all)")
      ->type_name("ID");
  catalogs::add_catalog_option(*check, wanted->catalog_file);
  check->add_option("--seed", wanted->seed, "of the calls' contents and of who comes late")
      ->type_name("N");
  check->add_flag("--as-rank", wanted->as_rank, "what the command starts itself as")->group("");
  check->callback([wanted, done = std::move(done)] { done(run(*wanted)); });
}

}  // namespace muster::check
