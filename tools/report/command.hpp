// `muster plot`: a plot of what a command wrote as JSON.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace muster::report {

/// Adds `plot` to the command. `done` is called with the exit status once it has run.
void add_plot_command(CLI::App& app, std::function<void(int)> done);

}  // namespace muster::report
