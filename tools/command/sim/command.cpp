// The command line of `muster sim`.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include <muster/run/team.hpp>

#include "tools/command/catalog/option.hpp"
#include "tools/command/shared/algorithms.hpp"
#include "tools/command/shared/command_line.hpp"
#include "tools/command/sim/models.hpp"
#include "tools/command/sim/sim.hpp"
#include "tools/report/sizes.hpp"

namespace muster::simulator {
namespace {

using bench::checked;

constexpr const char* description = "Simulate collectives on a machine that a model describes";

constexpr const char* details = R"(
Runs the same algorithms under virtual time, thousands of ranks in one process. The machine is one
of those that come with Muster (--list-machines) or a model in a file of your own; docs/models.md
says what it holds. The same machine, options and seed give the same figures, always.

Each call begins with all ranks meeting, at no cost. Its time is that of the slowest rank; the table
has the median over the calls. Sums of doubles; root 0. SIZE is the whole message for bcast, reduce
and allreduce, and one rank's block for allgather and alltoall. Beside the times the table has what
a call makes the busiest node do: messages and bytes to other nodes, the connections they take, pairs
of ranks; messages within the node, bytes copied into and out of its shared memory, the memory that
all this takes, by all calls; and the time that a rank spends waiting for others: mean and most.

Results are checked, element by element, as long as all buffers are within 1 GiB; beyond that, and
with --no-payload, messages carry nothing, which takes the same virtual time.

With --arrivals ranks come late: after they have met, each is away for its delay. A rank's time is
from its own arrival until its own call is done; a call's is the mean over the ranks. SPEC is
  none                      together
  random:mif=F              each rank by a random time from 0 to F message times
  late:share=P%,mif=F       that share of the ranks, drawn for each call, by F message times
  file:PATH                 as recorded: {"unit": "ns", "delays": [[a delay a rank], a list a call]}
A message time is what the machine's model says of a message of SIZE to another node, or within the
node where there is one.

--trace writes what each rank did when, for viewers of Chrome's trace format such as Perfetto: the
warm-up and, unless --calls says otherwise, one call.

Examples:
  muster sim alltoall --machine hdr100 --nodes 16 --ppn 8 --algorithms pairwise,auto --sizes 8..4K
  muster sim --machine colony --nodes 4 --json colony.json --plot colony.svg
  muster sim allgather --machine mine.json --arrivals random:mif=32 --seed 7
  muster sim allgather --machine hdr100 --nodes 4 --catalog mine.so --algorithms mine,auto
  muster sim bcast --machine connectx_ddr --sizes 64 --trace bcast.json
  muster sim --validate --plot validation.svg
  muster sim --reproduce docs/reproduction
)";

void check_machine(const std::string& name) {
  if (name != "list" && name != this_machine) find_model(name);
}

arrivals::pattern parse_arrivals(const std::string& text) { return arrivals::parse(text); }

/// What is measured.
void add_subject(CLI::App& sim, const std::shared_ptr<options>& wanted) {
  sim.add_option_function<std::vector<std::string>>(
         "COLLECTIVES",
         [wanted](const std::vector<std::string>& names) {
           wanted->collectives.clear();
           for (const auto& name : names) {
             wanted->collectives.push_back(bench::parse_collective(name));
           }
         },
         "which to simulate: " + bench::collective_names() + " (default: all)")
      ->check(CLI::Validator(checked(bench::parse_collective), ""))
      ->type_name("");
  bench::add_algorithms_option(
      sim, [wanted](std::vector<std::string> asked) { wanted->algorithms = std::move(asked); });
  catalogs::add_catalog_option(sim, wanted->catalog_file);
  sim.add_option_function<std::string>(
         "--sizes", [wanted](const std::string& text) { wanted->sizes = bench::parse_sizes(text); },
         "message sizes: a list 8,4K,1M or a range 8..1M in steps of ×8, 8..1Mx2 of ×2 "
         "(default: 8..1M)")
      ->check(CLI::Validator(checked(bench::parse_sizes), ""))
      ->type_name("SIZES");
  sim.add_option("--calls", wanted->calls,
                 "calls at each point, after one to warm up (default: 5; with --trace: 1)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10000}))
      ->type_name("N");
  sim.add_flag_callback(
      "--no-payload", [wanted] { wanted->payload = false; },
      "buffers hold nothing and nothing is checked: takes less memory");
}

void add_machine(CLI::App& sim, const std::shared_ptr<options>& wanted) {
  sim.add_option("--machine", wanted->machine,
                 model_names() + ", this (measured now), or a model's file")
      ->check(CLI::Validator(checked(check_machine), ""))
      ->type_name("NAME|FILE.json");
  sim.add_flag_callback(
      "--list-machines", [wanted] { wanted->machine = "list"; }, "say what these are, and no more");
  sim.add_option("--nodes", wanted->nodes, "how many of its nodes (default: all)")
      ->check(CLI::Range(std::size_t{1}, most_ranks))
      ->type_name("N");
  sim.add_option("--ppn", wanted->ranks_a_node, "ranks on each (default: as the machine is used)")
      ->check(CLI::Range(std::size_t{1}, most_ranks_a_node))
      ->type_name("P");
}

void add_arrivals(CLI::App& sim, const std::shared_ptr<options>& wanted) {
  CLI::Option* const late =
      sim.add_option_function<std::string>(
             "--arrivals",
             [wanted](const std::string& text) { wanted->late = parse_arrivals(text); },
             fmt::format("how late ranks come to each call: {} (default: all together)",
                         arrivals::forms))
          ->check(CLI::Validator(checked(parse_arrivals), ""))
          ->type_name("SPEC");
  sim.add_option_function<std::uint64_t>(
         "--message-time",
         [wanted](std::uint64_t ns) { wanted->message_time = std::chrono::nanoseconds(ns); },
         "nanoseconds of a message, for arrivals (default: the machine's, by size)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1000000000}))
      ->needs(late)
      ->type_name("NS");
  sim.add_option("--seed", wanted->seed, "of all random numbers: jitter and arrivals (default: 1)")
      ->type_name("N");
}

void add_output(CLI::App& sim, const std::shared_ptr<options>& wanted) {
  sim.add_option("--json", wanted->json, "write the results there as JSON; -: to standard output")
      ->type_name("FILE");
  sim.add_option("--plot", wanted->plot, "write a plot there, .svg or .html")->type_name("FILE");
  sim.add_option("--trace", wanted->trace, "write a trace of one point there, as JSON")
      ->type_name("FILE");
  sim.add_flag("-q,--quiet", wanted->quiet, "no progress");
  CLI::Option* const validate = sim.add_flag(
      "--validate", wanted->validate,
      "instead, measure this machine, run every point on real ranks too, 2, 4, 8 and 16 or\n"
      "--ppn of them, and show prediction and measurement side by side");
  for (const char* without :
       {"--machine", "--nodes", "--algorithms", "--catalog", "--calls", "--no-payload",
        "--arrivals", "--message-time", "--seed", "--trace"}) {
    validate->excludes(sim.get_option(without));
  }
  CLI::Option* const reproduce =
      sim.add_option(
             "--reproduce", wanted->reproduce,
             "instead, run the papers' experiments on models of their machines, print which\n"
             "claims come out, and write a page with figures there")
          ->type_name("DIR")
          ->excludes(validate);
  for (const char* without :
       {"--machine", "--nodes", "--ppn", "--algorithms", "--catalog", "--sizes", "--calls",
        "--arrivals", "--seed", "--json", "--plot", "--trace"}) {
    reproduce->excludes(sim.get_option(without));
  }
  sim.add_option("--only", wanted->only, "only experiments with this in their names, and no page")
      ->type_name("TEXT")
      ->needs(reproduce);
}

}  // namespace

void add_sim_command(CLI::App& command, std::function<void(int)> done) {
  CLI::App* const sim = command.add_subcommand("sim", description);
  sim->footer(details);
  const auto wanted = std::make_shared<options>();
  add_machine(*sim, wanted);
  add_subject(*sim, wanted);
  add_arrivals(*sim, wanted);
  add_output(*sim, wanted);
  sim->callback([wanted, done = std::move(done)] { done(run_sim(*wanted)); });
}

}  // namespace muster::simulator
