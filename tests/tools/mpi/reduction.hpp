#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/operands.hpp"
#include "tests/tools/mpi/turns.hpp"

namespace muster::testing {

enum class reduction { reduce, allreduce, reduce_scatter_block, reduce_scatter, scan, exscan };
inline constexpr reduction all_reductions[] = {
    reduction::reduce,         reduction::allreduce, reduction::reduce_scatter_block,
    reduction::reduce_scatter, reduction::scan,      reduction::exscan,
};

/// A call that reduces, alike on all ranks.
struct reduction_case {
  reduction what = reduction::allreduce;
  form how = form::blocking;
  bool large = false;  ///< by the functions that count in MPI_Count
  bool in_place = false;
  bool tests = false;
  bool for_mpi = false;  ///< left to the MPI, which takes the CPU's memory alone
  int root = 0;
  const operands* of = nullptr;
  std::size_t count = 0;   ///< of elements of a result; the most in reduce_scatter
  std::uint64_t seed = 0;  ///< of values and counts

  std::string describe() const;
};

/// Calls, and complains of each element that is not as it should be.
void check_reduction(job& of, MPI_Comm on, const reduction_case& what);

}  // namespace muster::testing
