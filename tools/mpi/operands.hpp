#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "tools/mpi/call.hpp"

namespace muster::mpi {

/// A stretch of elements of a call's buffer.
struct operand_block {
  std::int64_t displacement;  ///< of the first one: in extents, or in bytes where there are `types`
  std::int64_t count;
  MPI_Datatype type;
};

/// A buffer that a call uses on this rank: what of it is read, and what is written.
struct operand {
  enum class part : std::uint8_t { none, own, others, all };  ///< of the blocks

  side call::* where = nullptr;
  const char* name = nullptr;  ///< of the argument
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::int64_t count = 0;     ///< of a block's elements, where blocks do not vary
  std::int64_t results = -1;  ///< of a reduction's elements the first so many are written; else all
  std::size_t blocks = 1;     ///< one a rank or neighbor, or one
  bool varies = false;
  part reads = part::none;
  part writes = part::none;

  /// One of them, which is nothing where the call is wrong.
  operand_block block(const call& of, std::size_t number) const noexcept;
  static bool has(part which, std::size_t block, std::size_t rank) noexcept {
    return which == part::all || (which == part::own && block == rank) ||
           (which == part::others && block != rank);
  }
};

/// All of a call's, at most two. What has no meaning on this rank is not looked at.
struct operands {
  std::array<operand, 2> all;
  std::size_t count = 0;

  void add(const operand& one) noexcept { all[count++] = one; }
  const operand* begin() const noexcept { return all.data(); }
  const operand* end() const noexcept { return all.data() + count; }
};
/// How many blocks there are for and of others: one a rank, or one a neighbor.
struct block_numbers {
  std::size_t sent;
  std::size_t received;
};
operands operands_of(const call& what, std::size_t rank, const block_numbers& blocks) noexcept;

}  // namespace muster::mpi
