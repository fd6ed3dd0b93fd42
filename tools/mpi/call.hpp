#pragma once

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "tools/mpi/routine.hpp"

namespace muster::mpi {

/// Counts or displacements, one a rank, in whichever of MPI's widths.
class numbers {
public:
  numbers() = default;
  template <std::integral Number>
  explicit numbers(const Number* all) noexcept : all_(all), wide_(sizeof(Number) == 8) {
    static_assert(sizeof(Number) == 4 || sizeof(Number) == 8);
  }

  bool given() const noexcept { return all_ != nullptr; }
  std::int64_t operator[](std::size_t rank) const noexcept {
    return wide_ ? static_cast<const std::int64_t*>(all_)[rank]
                 : static_cast<const std::int32_t*>(all_)[rank];
  }

private:
  const void* all_ = nullptr;
  bool wide_ = false;
};

/// What a call says of the one or the other of its buffers.
struct side {
  void* buffer = nullptr;
  std::int64_t count = 0;  ///< of a vector or block, where blocks do not vary
  MPI_Datatype type = MPI_DATATYPE_NULL;
  numbers counts = {};
  numbers displacements = {};           ///< in elements, or in bytes where there are `types`
  const MPI_Datatype* types = nullptr;  ///< alltoallw's, one a rank

  bool in_place() const noexcept { return buffer == MPI_IN_PLACE; }
};

/// A collective call as the program wrote it. Reductions and bcast put their count and type with
/// what is received, and reduce_scatter its counts.
struct call {
  call(routine which, const char* written) noexcept : what(which), function(written) {}

  routine what;
  const char* function;  ///< "MPI_Ialltoall"
  side send = {};
  side receive = {};
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Whether a buffer is one, and not MPI_IN_PLACE or MPI_BOTTOM.
inline bool is_somewhere(const void* buffer) noexcept {
  return buffer != nullptr && buffer != MPI_IN_PLACE;
}

/// Of two calls that name no arrays: whether they differ in nothing but where their buffers are.
/// What a routine has no argument for is not looked at. Inlined: it is often known which that is.
[[gnu::always_inline]] inline bool are_written_alike(const call& one, const call& other) noexcept {
  const collective what = collective_of(other.what);
  const auto same_kind_of_place = [](const side& mine, const side& theirs) {
    return mine.buffer == theirs.buffer ||
           (is_somewhere(mine.buffer) && is_somewhere(theirs.buffer));
  };
  const auto same_elements = [](const side& mine, const side& theirs) {
    return mine.count == theirs.count && mine.type == theirs.type;
  };
  if (one.what != other.what) return false;
  if (what == collective::barrier) return true;
  const bool has_send = what != collective::bcast;
  return (!has_send || same_kind_of_place(one.send, other.send)) &&
         same_kind_of_place(one.receive, other.receive) &&
         (!has_send || has_op(what) || same_elements(one.send, other.send)) &&
         same_elements(one.receive, other.receive) && (!has_op(what) || one.op == other.op) &&
         (!has_root(what) || one.root == other.root);
}

}  // namespace muster::mpi
