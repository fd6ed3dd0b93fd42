#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <vector>

#include <muster/muster.hpp>

/// For tests of ranks on several machines, whatever joins these.
namespace muster::testing {

/// On which machine each rank is.
inline const std::vector<std::vector<std::size_t>>& machine_layouts() {
  static const std::vector<std::vector<std::size_t>> all = {
      {0, 1}, {0, 0, 1, 1}, {0, 1, 0, 1, 2}, {0, 0, 0, 1}};
  return all;
}

inline void sum_of_ones(team& of) {
  std::array<int, 1> one = {1};
  start(allreduce(of, one, sum)).wait();
  CHECK(one[0] == static_cast<int>(of.size()));
}

}  // namespace muster::testing
