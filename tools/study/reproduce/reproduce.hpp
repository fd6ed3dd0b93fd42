// `muster sim --reproduce`: the papers' claims, one by one.
#pragma once

#include <filesystem>
#include <string>

namespace muster::reproduce {

struct options {
  std::filesystem::path directory;  ///< of the page and its figures
  std::string only;                 ///< part of an experiment's name; empty: all
  bool quiet = false;
};

/// Runs the experiments, prints what became of each claim, writes the page. Without all experiments
/// only the figures are written. Gives the exit status: 0 when everything ran.
int run(const options& wanted);

}  // namespace muster::reproduce
