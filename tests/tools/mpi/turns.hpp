#pragma once

#include <mpi.h>

#include <functional>
#include <thread>

#include "tests/tools/mpi/functions.hpp"

namespace muster::testing {

enum class form { blocking, nonblocking, persistent };

/// How a collective is called, and what is done before and after.
struct turns {
  form how = form::blocking;
  bool tests = false;                ///< asks until it is complete, rather than waits
  std::function<void(int)> prepare;  ///< fills the buffers for a round
  std::function<void()> meanwhile;   ///< the call has been made, but need not be complete
  std::function<void(int)> verify;   ///< looks at what has arrived in a round
};

inline void complete(MPI_Request& request, bool tests) {
  if (!tests) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  int done = 0;
  while (true) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    std::this_thread::yield();
  }
}

/// Calls a collective: once, or several rounds of a persistent one.
template <class Forms, class... Arguments>
void carry_out(const turns& by, const Forms& of, Arguments... arguments) {
  constexpr int rounds = 2;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (by.how) {
    case form::blocking:
      by.prepare(0);
      of.blocking(arguments...);
      by.meanwhile();
      by.verify(0);
      break;
    case form::nonblocking:
      by.prepare(0);
      of.nonblocking(arguments..., &request);
      by.meanwhile();
      complete(request, by.tests);
      by.verify(0);
      break;
    case form::persistent:
      of.persistent(arguments..., MPI_INFO_NULL, &request);
      by.meanwhile();
      for (int round = 0; round < rounds; ++round) {
        by.prepare(round);
        MPI_Start(&request);
        complete(request, by.tests);
        by.verify(round);
      }
      MPI_Request_free(&request);
      break;
  }
}

}  // namespace muster::testing
