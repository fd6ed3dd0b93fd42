// An algorithm whose results are wrong.

#include <array>

#include "tests/own_algorithm/refused/row.hpp"

const muster::catalog* muster_catalog() noexcept {
  static const std::array rows = {muster::testing::row_named("wrong")};
  static const muster::catalog all = rows;
  return &all;
}
