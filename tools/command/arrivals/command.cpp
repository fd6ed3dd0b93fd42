#include "tools/command/arrivals/command.hpp"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/command/shared/command_line.hpp"
#include "tools/report/lines.hpp"
#include "tools/report/plot.hpp"
#include "tools/report/profile.hpp"
#include "tools/report/profile_report.hpp"

namespace muster::profile {
namespace {

constexpr const char* details = R"(
DIR is where a run was recorded: muster run --record-arrivals DIR, or MUSTER_ARRIVALS=DIR. A call
site is a collective with its arguments on one team; the sites with the most time come first. Of the
arrivals of a call's ranks, d is the mean distance from their mean and Δ the last less the first;
both are over T, the time that a message of the call's bytes takes on the machine (d/T and Δ/T are
the average-case and the worst-case imbalance factors of Qian 2010, 6.3.1): their mean over the
calls, and the most. Then the mean time in a call, the share of it before the last rank had come, and
which rank came last most often. Bytes are the whole message for bcast, reduce and allreduce, and one
rank's block for collectives that have blocks.

The JSON has the same, and the delays of the first site that all ranks took part in, which other
commands replay:

  muster run -n 8 --record-arrivals arrivals ./solve
  muster arrivals arrivals --json arrivals.json --plot arrivals.html
  muster bench alltoall -n 8 --arrivals file:arrivals.json
)";

}  // namespace

int report(const options& wanted) {
  bench::json_output json_file(wanted.json);
  bench::require_writable(wanted.plot, "--plot");
  const std::vector<rank_record> records = read_records(wanted.folder);
  const job all = put_together(records);
  std::fputs(table(all).c_str(), stdout);
  const std::string json = report::in_lines(to_json(all));
  json_file.write(json);
  if (!wanted.plot.empty()) report::plot(wanted.plot, json);
  return 0;
}

void add_arrivals_command(CLI::App& app, std::function<void(int)> done) {
  auto wanted = std::make_shared<options>();
  CLI::App* const command =
      app.add_subcommand("arrivals", "how ranks came to the calls of a recorded run");
  command->footer(details);
  command->add_option("DIR", wanted->folder, "where the run was recorded")
      ->required()
      ->type_name("");
  command
      ->add_option("--json", wanted->json, "write the figures there as JSON; -: to standard output")
      ->type_name("FILE");
  command->add_option("--plot", wanted->plot, "draw who arrived when, .svg or .html")
      ->type_name("FILE");
  command->callback([wanted, done = std::move(done)] { done(report(*wanted)); });
}

}  // namespace muster::profile
