#include "algos/catalog.hpp"

#include <array>

#include "algos/algorithms.hpp"

namespace muster::algos {

muster::catalog catalog() noexcept {
  static const std::array rows = {
#define ALGORITHM(row) row,
#include "algos/list.inc"
#undef ALGORITHM
  };
  return rows;
}

}  // namespace muster::algos
