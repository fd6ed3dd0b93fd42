// Usages of collectives, made up for tests.
#pragma once

#include <cstdint>
#include <string>

#include "tools/mpi/report.hpp"

namespace muster::testing {

inline constexpr mpi::kind alltoall{mpi::routine_of(collective::alltoall), mpi::form::blocking};
inline constexpr mpi::kind ialltoall{mpi::routine_of(collective::alltoall), mpi::form::nonblocking};

inline mpi::usage taken_by(const std::string& algorithm, std::uint64_t calls) {
  mpi::usage one;
  one.taken = calls;
  one.bytes = 1024 * calls;
  one.nanoseconds = 2000 * calls;
  one.algorithms[algorithm] = calls;
  return one;
}

}  // namespace muster::testing
