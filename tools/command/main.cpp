#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <muster/base/version.hpp>
#include <muster/environment/environment.hpp>

#include "tools/command/arrivals/command.hpp"
#include "tools/command/bench/bench.hpp"
#include "tools/command/catalog/option.hpp"
#include "tools/command/check/check.hpp"
#include "tools/command/completion/completion.hpp"
#include "tools/command/info/algorithms.hpp"
#include "tools/command/info/info.hpp"
#include "tools/command/measure/measure.hpp"
#include "tools/command/mpirun/command.hpp"
#include "tools/command/run/hosts.hpp"
#include "tools/command/run/launch.hpp"
#include "tools/command/shared/command_line.hpp"
#include "tools/command/sim/models.hpp"
#include "tools/command/sim/sim.hpp"
#include "tools/command/tune/tune.hpp"
#include "tools/command/why/command.hpp"
#include "tools/report/command.hpp"
#include "tools/report/sizes.hpp"

namespace {

/// Adds `muster run`; its exit status goes to `status`.
void add_run_command(CLI::App& app, muster::launch::options& what, int& status) {
  CLI::App* run = app.add_subcommand("run", "start a program as the ranks of one job");
  run->footer(
      "Each rank is a process; a program that makes a muster::world becomes part of the job.\n"
      "Rank 0 reads standard input. When a rank fails the others get an error that names it,\n"
      "have two seconds to end, and are then ended; the exit status is that of the first to\n"
      "fail (128 + signal if it was killed). Signals sent to muster run go on to all ranks.\n\n"
      "  muster run -n 4 ./solve input.txt\n"
      "  muster run -n 8 --nodes 3 --tag-output ./solve    try code for several nodes on one");
  run->add_option("-n,--ranks", what.ranks, "how many ranks to start")
      ->required()
      ->check(CLI::Range(1, 1024));
  run->add_option("--nodes", what.nodes,
                  "spread the ranks over this many made-up nodes, which share no memory with\n"
                  "each other but what travels between nodes")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  const auto set_binding = [&what](const std::string& value) {
    what.bind_to_core = value == "core";
  };
  run->add_option_function<std::string>(
         "--bind", set_binding,
         "core: each rank to one core, round robin; none: to nothing (default: core)")
      ->check(CLI::IsMember({"core", "none"}));
  run->add_flag("--tag-output", what.tag_output, "begin each line of output with [rank]");
  run->add_option("--kernel-copies-from", what.kernel_copies_from,
                  "let the kernel copy blocks of this many bytes and more straight from the\n"
                  "sender's memory (default: as measured at start, see muster info)")
      ->envname(muster::environment::kernel_copies_from.name)
      ->check(CLI::PositiveNumber);
  run->add_option_function<unsigned>(
         "--grace", [&what](unsigned seconds) { what.grace = std::chrono::seconds(seconds); },
         "give the other ranks this many seconds to end by themselves when one has failed, and as\n"
         "many again when they were asked to (default: 2)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0, 1'000'000));
  run->add_option("--respawn", what.respawn,
                  "start a rank that fails again, up to so many times, and let the others go on:\n"
                  "for programs that call muster::grow")
      ->type_name("TIMES")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  run->add_option("--record-arrivals", what.record_arrivals,
                  "record there when each rank comes to each collective call, for muster arrivals")
      ->envname(muster::environment::arrivals.name)
      ->type_name("DIR");
  run->add_option_function<std::string>(
         "--hosts",
         [&what](const std::string& text) { what.hosts = muster::launch::parse_hosts(text); },
         "start them on these machines, as in a:8,b:8: up to so many on each, in this order")
      ->type_name("HOST:RANKS,...");
  CLI::Option* const made =
      run->add_option("--hosts-made", what.hosts_made,
                      "start them on so many hosts that are made of this machine, evenly: network\n"
                      "namespaces, to try code for several machines; as root, and bound to no core")
          ->check(CLI::Range(1, 250))
          ->excludes("--hosts");
  muster::bench::add_link_rate_option(*run, what.link_rate)->needs(made);
  const CLI::Option* const fabric = muster::bench::add_fabric_option(*run);
  run->add_option("--remote-shell", what.remote_shell,
                  "how a machine is reached: called as COMMAND HOST ARG...")
      ->type_name("COMMAND")
      ->capture_default_str();
  run->add_option("-x", what.passed_on, "pass this variable on to ranks of other machines")
      ->type_name("NAME")
      ->allow_extra_args(false);
  run->prefix_command();
  run->callback([run, fabric, &what, &status] {
    what.command = run->remaining();
    if (what.command.empty()) throw CLI::ValidationError("run", "no program given to start");
    if (what.command.front().starts_with("-") && what.command.front() != "--") {
      throw CLI::ValidationError("run", "unknown option " + what.command.front());
    }
    if (what.command.front() == "--") what.command.erase(what.command.begin());
    if (fabric->count() != 0 && what.hosts.empty() && what.hosts_made == 0) {
      throw CLI::ValidationError("--fabric",
                                 "is by what hosts talk; expected --hosts or --hosts-made, too");
    }
    if (what.nodes > what.ranks) {
      throw CLI::ValidationError("--nodes", "is " + std::to_string(what.nodes) +
                                                "; expected at most the number of ranks, " +
                                                std::to_string(what.ranks));
    }
    if (what.nodes > 1 && what.respawn != 0) {
      throw CLI::ValidationError("--respawn",
                                 "makes a job anew, where no nodes are made up; "
                                 "expected without --nodes");
    }
    status = muster::launch::run(what);
  });
  app.add_subcommand("run-share")->group("")->callback([&status] {
    status = muster::launch::run_share_as_told();
  });
}

/// Adds `--algorithms` and what goes with it; the answers go to `asked`.
const CLI::Option* add_algorithm_options(CLI::App& info, muster::cli::costs_of& asked) {
  using namespace muster;
  CLI::Option* const algorithms =
      info.add_flag("--algorithms")
          ->description("instead, the catalog: what each algorithm is, needs and costs");
  info.add_option_function<std::string>(
          "--collective",
          [&asked](const std::string& text) { asked.what = cli::parse_collective(text); },
          "of one collective only")
      ->check(CLI::Validator(bench::checked(cli::parse_collective), ""))
      ->needs(algorithms)
      ->type_name("NAME");
  info.add_option("--machine", asked.machine,
                  "the model that is simulated: " + simulator::model_names())
      ->needs(algorithms)
      ->capture_default_str()
      ->type_name("NAME|FILE.json");
  info.add_option("--nodes", asked.nodes, "how many nodes")
      ->check(CLI::Range(1, 1024))
      ->needs(algorithms)
      ->capture_default_str();
  info.add_option("--ppn", asked.ranks_a_node, "ranks on each")
      ->check(CLI::Range(1, 256))
      ->needs(algorithms)
      ->capture_default_str();
  info.add_option_function<std::string>(
          "--size",
          [&asked](const std::string& text) { asked.bytes = bench::parse_sizes(text).front(); },
          "of a block, or of the vector (default: 1K)")
      ->check(CLI::Validator(bench::checked(bench::parse_sizes), ""))
      ->needs(algorithms)
      ->type_name("SIZE");
  muster::catalogs::add_catalog_option(info, asked.catalog_file)->needs(algorithms);
  return algorithms;
}

void add_info_command(CLI::App& app, muster::cli::costs_of& asked) {
  CLI::App* info = app.add_subcommand(
      "info", "what Muster finds on this machine, how it would move messages, its algorithms");
  const CLI::Option* const measure =
      info->add_flag("--measure")
          ->description("instead, measure this machine and print it as a model for muster sim");
  const CLI::Option* const environment =
      info->add_flag("--environment")
          ->description(
              "instead, the environment's variables that Muster reads (docs/environment.md)");
  const CLI::Option* const progress =
      info->add_flag("--progress")
          ->description("instead, who would drive operations that are under way, and where");
  const CLI::Option* const algorithms = add_algorithm_options(*info, asked);
  info->callback([measure, environment, progress, algorithms, &asked] {
    std::string text;
    if (environment->count() != 0) {
      text = muster::environment::page();
    } else if (progress->count() != 0) {
      text = muster::cli::describe_progress();
    } else if (measure->count() != 0) {
      text = muster::sim::to_json(muster::measure::this_machine());
    } else if (algorithms->count() != 0) {
      text = muster::cli::describe_algorithms(asked);
    } else {
      text = muster::cli::describe_machine();
    }
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace

int main(int argc, char** argv) {
  // What `muster mpirun` becomes has ranks that say it themselves.
  const bool ranks_will = argc > 1 && std::string_view(argv[1]) == "mpirun";
  if (!ranks_will) muster::environment::report_unknown(true);
  CLI::App app("Muster: asynchronous collectives, awaited like a timer or a socket");
  app.require_subcommand(1);
  app.set_version_flag("--version", "Muster " MUSTER_VERSION, "print the version and exit");
  muster::launch::options launch_options;
  int status = 0;
  add_run_command(app, launch_options, status);
  muster::mpirun::add_mpirun_command(app);
  muster::bench::add_bench_command(app, [&status](int result) { status = result; });
  muster::simulator::add_sim_command(app, [&status](int result) { status = result; });
  muster::tune::add_tune_command(app, [&status](int result) { status = result; });
  muster::check::add_check_command(app, [&status](int result) { status = result; });
  muster::profile::add_arrivals_command(app, [&status](int result) { status = result; });
  muster::why::add_why_command(app, [&status](int result) { status = result; });
  muster::report::add_plot_command(app, [&status](int result) { status = result; });
  muster::cli::costs_of asked;
  add_info_command(app, asked);
  muster::cli::add_completion_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    return app.exit(why);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "muster: %s\n", why.what());
    return 1;
  }
  return status;
}
