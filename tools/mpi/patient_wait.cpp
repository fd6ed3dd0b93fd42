#include "tools/mpi/patient_wait.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tools/mpi/next.hpp"

namespace muster::mpi {
namespace {

using clock = std::chrono::steady_clock;

/// \param usual from when on it sleeps \param look_again between looks before that
template <class LookAgain>
void wait(MPI_Request& request, clock::duration usual, LookAgain look_again) {
  constexpr std::chrono::microseconds shortest(50);
  constexpr std::chrono::microseconds longest(200);
  static const auto test = find_next<decltype(&PMPI_Test)>("PMPI_Test");
  const clock::time_point begin = clock::now();
  for (;;) {
    int is_complete = 0;
    test(&request, &is_complete, MPI_STATUS_IGNORE);
    if (is_complete != 0) return;
    const clock::duration waited = clock::now() - begin;
    if (waited <= usual) {
      look_again();
    } else {
      // Naps that grow with the wait cost it little, and many ranks of a core few turns.
      std::this_thread::sleep_for(std::clamp<clock::duration>(waited / 16, shortest, longest));
    }
  }
}

}  // namespace

void wait_patiently(MPI_Request& request) {
  constexpr std::chrono::microseconds usual(100);  // between ranks with a core each
  wait(request, usual, [] {});
}

void wait_yielding(MPI_Request& request) {
  constexpr std::chrono::milliseconds usual(10);  // a turn of many ranks
  wait(request, usual, [] { ::sched_yield(); });
}

}  // namespace muster::mpi
