// What the papers' claims are held against: the same algorithms on models of the papers' machines.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/command/sim/plan.hpp"

namespace muster::reproduce {

/// One of those that an experiment compares.
struct contender {
  std::string label;      ///< what the page calls it
  std::string choice;     ///< the algorithm, as chosen by hand
  bool one_rail = false;  ///< on a machine of one rail: for libraries that did not use the others
};

/// A collective of several sizes on one machine, run by several algorithms.
struct experiment {
  std::string name;  ///< of its figure's file
  std::string title;
  std::string machine;
  std::size_t nodes = 1;
  std::size_t ranks_a_node = 1;
  collective what = collective::barrier;
  std::vector<std::size_t> sizes;
  std::vector<contender> contenders;
  std::string late = {};  ///< how ranks come late, see arrivals::parse; empty: they do not
  std::size_t calls = 5;
};

/// What came of it.
class measurements {
public:
  explicit measurements(experiment of) : of_(std::move(of)) {}

  const experiment& of() const noexcept { return of_; }
  void add(const std::string& label, const simulator::result& one);
  /// Microseconds. \throws std::runtime_error where there is no figure
  double time(const std::string& label, std::size_t bytes) const;
  bool has(const std::string& label, std::size_t bytes) const;
  const std::vector<simulator::result>& results() const noexcept { return results_; }

private:
  experiment of_;
  std::map<std::pair<std::string, std::size_t>, double> times_;
  std::vector<simulator::result> results_;  // labelled
};

/// The simulator's job and point for each measurement, in order.
struct run_of {
  simulator::job how;
  simulator::point at;
  std::string label;
};
std::vector<run_of> runs_of(const experiment& one);

/// All experiments of the papers.
std::vector<experiment> experiments();

}  // namespace muster::reproduce
