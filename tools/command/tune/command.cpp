// The command line of `muster tune`.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include <muster/base/error.hpp>

#include "tools/command/bench/measured.hpp"
#include "tools/command/catalog/option.hpp"
#include "tools/command/shared/command_line.hpp"
#include "tools/command/shared/made_hosts.hpp"
#include "tools/command/sim/models.hpp"
#include "tools/command/tune/tune.hpp"
#include "tools/report/sizes.hpp"

namespace muster::tune {
namespace {

using bench::checked;

constexpr const char* details = R"(
Tries every algorithm of the catalog, with its options, on every team and size, and writes a table of
the fastest: real ranks of this machine, those of several nodes on made-up ones (see muster run)
or, with --hosts-made, on hosts; or with --machine in the simulator. The time of real ranks is the
geometric mean of a call's in a row of calls and of one's between barriers. Shown with each is how
much faster it is than what would be selected without a table; where that is not worth it there is no
rule.

MUSTER_TABLE=FILE makes programs select by a table: all ranks read the same file. A rule holds from
the size, nodes or ranks tried before it up to its own, the last one without end, nodes and ranks
not below the first; what no rule
matches, or where its algorithm does not suit, is selected as without a table. The table is JSON that
may be edited by hand. MUSTER_TABLE=none goes without the one that comes with Muster, too.

Examples:
  muster tune alltoall allgather --nodes 1,4 --ppn 4 --table here.json --plot here.svg
  muster tune --hosts-made --nodes 2,4 --ppn 1,4 --table tcp.json
  muster tune --hosts-made --shim openmpi --nodes 2,4 --ppn 1,4 --table mpi.json
  muster tune --machine hdr100 --nodes 2,8,32 --ppn 56 alltoall --table hdr100.json --plot hdr100.svg
  muster tune allgather --catalog mine.so --nodes 1 --ppn 4 --table here.json
  MUSTER_TABLE=hdr100.json ./program
  muster plot hdr100.json
)";

void check_machine(const std::string& name) {
  if (name != simulator::this_machine) simulator::find_model(name);
}

void add_numbers(CLI::App& tune, const char* option, std::vector<std::size_t>& values,
                 const char* what) {
  tune.add_option(option, values, what)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->type_name("N,N,...");
}

void add_options(CLI::App& tune, const std::shared_ptr<options>& wanted) {
  tune.add_option_function<std::vector<std::string>>(
          "COLLECTIVES",
          [wanted](const std::vector<std::string>& names) {
            wanted->collectives.clear();
            for (const auto& name : names) {
              wanted->collectives.push_back(bench::parse_collective(name));
            }
          },
          "which to tune: " + bench::collective_names() + " (default: the first eight)")
      ->check(CLI::Validator(checked(bench::parse_collective), ""))
      ->type_name("");
  tune.add_option("--machine", wanted->machine,
                  "simulate a model: " + simulator::model_names() + ", this, or a file")
      ->check(CLI::Validator(checked(check_machine), ""))
      ->type_name("NAME|FILE.json");
  CLI::Option* const hosts =
      tune.add_flag("--hosts-made", wanted->on_hosts,
                    "nodes are hosts made of this machine, which TCP connects; as root")
          ->excludes("--machine");
  bench::add_link_rate_option(tune, wanted->link_rate)->needs(hosts);
  tune.add_flag(made_hosts::inside, wanted->hosts_are_made)->group("");
  tune.add_option_function<std::string>(
          "--shim",
          [wanted](const std::string& text) { wanted->shim_under = bench::parse_shim(text); },
          "calls of this MPI, openmpi or mpich, into whose ranks Muster is preloaded, and by whose "
          "messages hosts talk")
      ->check(CLI::Validator(checked(bench::parse_shim), ""))
      ->needs(hosts)
      ->type_name("MPI");
  catalogs::add_catalog_option(tune, wanted->catalog_file);
  add_numbers(tune, "--nodes", wanted->nodes, "numbers of nodes");
  add_numbers(tune, "--ppn", wanted->ranks_a_node, "ranks on each");
  tune.add_option("--most-ranks", wanted->most_ranks, "leave out larger teams")
      ->check(CLI::Range(2, 16384))
      ->capture_default_str();
  tune.add_option_function<std::string>(
          "--sizes",
          [wanted](const std::string& text) { wanted->sizes = bench::parse_sizes(text); },
          "message sizes: a list 8,4K,1M or a range 8..1M in steps of ×8 (default: 8..256K)")
      ->check(CLI::Validator(checked(bench::parse_sizes), ""))
      ->type_name("SIZES");
  tune.add_option("--calls", wanted->calls, "calls simulated at each point; their median counts")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  tune.add_option("--rounds", wanted->how.rounds, "samples of real ranks, likewise")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  tune.add_option("--table", wanted->table, "write the table there, as JSON")->type_name("FILE");
  tune.add_option("--plot", wanted->plot, "draw what it selects where, .svg or .html")
      ->type_name("FILE");
  tune.add_flag("-q,--quiet", wanted->quiet, "no progress");
}

int run_or_say_why(const options& wanted) {
  try {
    if (wanted.on_hosts && !wanted.hosts_are_made) {
      made_hosts::run_again_among({std::ranges::max(wanted.nodes), wanted.link_rate});
    }
    return run(wanted);
  } catch (const std::exception& why) {
    fmt::print(stderr, "muster tune: {}\n", why.what());
    return 1;
  }
}

}  // namespace

void add_tune_command(CLI::App& command, std::function<void(int)> done) {
  CLI::App* const tune =
      command.add_subcommand("tune", "Find the fastest algorithms, and write a selection table");
  tune->footer(details);
  const auto wanted = std::make_shared<options>();
  wanted->collectives.assign(bench::usual_collectives.begin(), bench::usual_collectives.end());
  add_options(*tune, wanted);
  tune->callback([wanted, done = std::move(done)] { done(run_or_say_why(*wanted)); });
}

}  // namespace muster::tune
