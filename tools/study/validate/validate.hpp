// `muster sim --validate`: the simulator held against the machine it runs on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "tools/command/bench/measured.hpp"

namespace muster::validate {

struct options {
  std::vector<collective> collectives{bench::usual_collectives.begin(),
                                      bench::usual_collectives.end()};
  std::vector<std::size_t> ranks{2, 4, 8, 16};
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144, 1048576};  ///< bytes
  std::filesystem::path json;                                                ///< empty: none
  std::filesystem::path plot;
  bool quiet = false;
};

/// Measures this machine and, on real ranks, every point; predicts each from the machine alone;
/// prints both side by side and writes the files. Gives the exit status: 0 when all points were
/// measured, 1 when something failed, 130 when interrupted. How near the two are does not matter to
/// it: machines change while they are measured.
int run(const options& wanted);

}  // namespace muster::validate
