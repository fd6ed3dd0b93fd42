#pragma once

namespace CLI {
class App;
}

namespace muster::mpirun {

/// Adds `muster mpirun`. Where it starts a launcher it does not return: it becomes the launcher.
void add_mpirun_command(CLI::App& app);

}  // namespace muster::mpirun
