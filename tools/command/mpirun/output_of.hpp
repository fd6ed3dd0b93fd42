#pragma once

#include <string>
#include <vector>

namespace muster::mpirun {

/// Runs a program, the first of the words, and returns what it prints to its output; its errors are
/// dropped. Empty where it cannot be run or fails.
std::string output_of(const std::vector<std::string>& command);

}  // namespace muster::mpirun
