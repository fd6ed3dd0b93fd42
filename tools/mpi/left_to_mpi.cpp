#include "tools/mpi/left_to_mpi.hpp"

#include <cstddef>

namespace muster::mpi {
namespace {

bool is_allowed(const shape&, const machine&, const arguments& call) { return call.may_be_left; }
bool never(const shape&, const machine&, const arguments&) { return false; }

algorithm row_of(collective what) {
  return {
      .id = left_to_mpi,
      .what = what,
      .summary = "left to the MPI's own",
      .source = "MPI-4.0 6",
      .needs = "a blocking call of an MPI program",
      .suits = is_allowed,
      .pays = never,
      .stages = nullptr,
      .run = nullptr,
      .leaves = true,
  };
}

}  // namespace

std::vector<algorithm> with_mpi(catalog own) {
  std::vector<algorithm> rows(own.begin(), own.end());
  for (std::size_t what = 0; what < collectives; ++what) {
    rows.push_back(row_of(static_cast<collective>(what)));
  }
  return rows;
}

bool can_be_left(collective what, form how) noexcept {
  return how == form::blocking && !has_varying_blocks(what) && !has_neighbors(what);
}

}  // namespace muster::mpi
