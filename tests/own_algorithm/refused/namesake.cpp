// An algorithm that has the name of one of Muster's own.

#include <array>

#include "tests/own_algorithm/refused/row.hpp"

const muster::catalog* muster_catalog() noexcept {
  static const std::array rows = {muster::testing::row_named("ring")};
  static const muster::catalog all = rows;
  return &all;
}
