#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

namespace muster::testing {

/// How a call of MPI ended.
struct outcome {
  int error_class = MPI_SUCCESS;
  std::string text;

  /// Whether the text has these words, in capitals or not.
  bool says(std::string_view what) const;
};

outcome outcome_of(int code);

/// From now on the communicator's errors are kept, the last one in `told`, and the calls return.
void keep_errors(MPI_Comm of);
/// What was kept.
outcome& told();

}  // namespace muster::testing
