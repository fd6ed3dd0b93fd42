#include "tools/report/command.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "tools/report/plot.hpp"

namespace muster::report {
namespace {

constexpr const char* details = R"(
FILE.json is what muster bench, sim and arrivals write with --json, or a selection table of muster
tune. Their --plot draws the same. Drawing takes Debian's package python3-matplotlib.

Examples:
  muster plot bench.json
  muster plot tools/library/tables/network.json -o network.html
)";

struct options {
  std::string json;
  std::string plot;
};

}  // namespace

void add_plot_command(CLI::App& app, std::function<void(int)> done) {
  CLI::App* const command = app.add_subcommand("plot", "Draw what another command wrote as JSON");
  command->footer(details);
  const auto wanted = std::make_shared<options>();
  command->add_option("FILE.json", wanted->json, "what to draw")
      ->required()
      ->check(CLI::ExistingFile)
      ->type_name("");
  command->add_option("-o", wanted->plot, "the plot, .svg, .html, .png or .pdf (default: FILE.svg)")
      ->type_name("FILE");
  command->callback([wanted, done = std::move(done)] {
    if (wanted->plot.empty()) {
      done(run_script({wanted->json}));
    } else {
      done(run_script({wanted->json, "-o", wanted->plot}));
    }
  });
}

}  // namespace muster::report
