#pragma once

#include <mpi.h>

#include <cstddef>

#include "engine/collective/reduction.hpp"
#include "engine/mpi/types.hpp"

namespace muster::mpi {

/// Contributions that the MPI combines, as it does in its own reductions: by a predefined operation
/// that Muster does not know for such elements, or by one of the program's own.
class combined_by_mpi final : public custom_reduction {
public:
  combined_by_mpi(const type_facts& facts, MPI_Datatype of, MPI_Op by);

private:
  static void combine(const custom_reduction& self, std::byte* to, const std::byte* left,
                      const std::byte* right, std::size_t count);
  void combine_some(std::byte* to, const std::byte* left, const std::byte* right, int count) const;

  kept_type type_;
  MPI_Op op_;
};

}  // namespace muster::mpi
