#include "tools/mpi/patient_wait.hpp"

#include <chrono>
#include <thread>

#include "tools/mpi/next.hpp"

namespace muster::mpi {

void wait_patiently(MPI_Request& request) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds usual(100);  // between ranks with a core each
  constexpr std::chrono::microseconds nap(50);
  static const auto test = find_next<decltype(&PMPI_Test)>("PMPI_Test");
  const clock::time_point begin = clock::now();
  for (;;) {
    int is_complete = 0;
    test(&request, &is_complete, MPI_STATUS_IGNORE);
    if (is_complete != 0) return;
    if (clock::now() - begin > usual) std::this_thread::sleep_for(nap);
  }
}

}  // namespace muster::mpi
