// An algorithm that declares what it costs for people only.

#include <array>

#include "tests/own_algorithm/refused/row.hpp"

namespace {

muster::algorithm incomplete_row() {
  muster::algorithm row = muster::testing::row_named("incomplete");
  row.formula = "n messages";
  return row;
}

}  // namespace

const muster::catalog* muster_catalog() noexcept {
  static const std::array rows = {incomplete_row()};
  static const muster::catalog all = rows;
  return &all;
}
