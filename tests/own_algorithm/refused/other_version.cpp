// What a library gives that was compiled with the headers of another version: its stamp says so,
// and what lies behind that is anything.

#include <array>
#include <cstring>

#include "tests/own_algorithm/refused/row.hpp"

namespace {

struct other_catalog {
  muster::catalog_stamp made_by;
  std::array<std::byte, 128> unknown;
};

other_catalog catalog_of_0_0_9() {
  other_catalog result{};
  result.made_by.version = {"0.0.9"};
  return result;
}

}  // namespace

const muster::catalog* muster_catalog() noexcept {
  static const other_catalog all = catalog_of_0_0_9();
  return reinterpret_cast<const muster::catalog*>(&all);
}
