#include "tools/mpi/left_to_mpi.hpp"

#include <cstddef>

#include <muster/call/describe.hpp>

namespace muster::mpi {
namespace {

// Where nothing moves, to take the place is all there is to do. (Open MPI's own calls of such kinds
// do not all end.)
template <leavable how>
bool is_left_so(const shape&, const machine&, const arguments& call) {
  return call.may_be_left == how && !moves_nothing(call);
}
bool never(const shape&, const machine&, const arguments&) { return false; }

template <leavable how>
algorithm row_of(collective what, std::string_view id, std::string_view needs) {
  return {
      .id = id,
      .what = what,
      .summary = "left to the MPI's own",
      .source = "MPI-4.0 6",
      .needs = needs,
      .suits = is_left_so<how>,
      .pays = never,
      .stages = nullptr,
      .run = nullptr,
      .leaves = how,
  };
}

}  // namespace

std::vector<algorithm> with_mpi(catalog own) {
  std::vector<algorithm> rows(own.begin(), own.end());
  for (std::size_t i = 0; i < collectives; ++i) {
    const auto what = static_cast<collective>(i);
    rows.push_back(
        row_of<leavable::blocking>(what, left_to_mpi, "a blocking call of an MPI program"));
    rows.push_back(row_of<leavable::nonblocking>(what, left_with_request,
                                                 "a nonblocking call of an MPI program"));
  }
  return rows;
}

leavable leavable_as(collective what, form how) noexcept {
  if (has_varying_blocks(what) || has_neighbors(what)) return leavable::no;
  switch (how) {
    case form::blocking:
      return leavable::blocking;
    case form::nonblocking:
      return leavable::nonblocking;
    default:
      return leavable::no;
  }
}

}  // namespace muster::mpi
