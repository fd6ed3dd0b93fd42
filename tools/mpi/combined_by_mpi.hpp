#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include <muster/call/reduction.hpp>

#include "tools/mpi/held_type.hpp"
#include "tools/mpi/types.hpp"

namespace muster::mpi {

/// Contributions that the MPI combines, as it does in its own reductions: by one of the program's
/// own operations, which is given the datatype that the program named, or by a predefined operation
/// that only the MPI knows for such elements.
///
/// To Muster an element is its data without gaps, whatever its layout. The program's operation sees
/// elements laid out as the datatype says.
class combined_by_mpi final : public custom_reduction {
public:
  combined_by_mpi(const type_facts& facts, MPI_Datatype of, MPI_Op by);

private:
  static void combine(const custom_reduction& self, std::byte* to, const std::byte* left,
                      const std::byte* right, std::size_t count);
  static void combine_scattered(const custom_reduction& self, std::byte* to, const std::byte* left,
                                const std::byte* right, std::size_t count);
  void combine_some(std::byte* to, const std::byte* left, const std::byte* right, int count) const;
  void combine_laid_out(std::byte* to, const std::byte* left, const std::byte* right,
                        int count) const;

  type_facts facts_;
  held_type type_;
  MPI_Op op_;
};

}  // namespace muster::mpi
