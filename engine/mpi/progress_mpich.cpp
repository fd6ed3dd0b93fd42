// MPICH has no public way into its progress loop. Where it stands on UCX each turn of that loop
// asks UCX for progress, by a function whose name is taken here.
#include <atomic>

#include "engine/mpi/beneath.hpp"

namespace muster::mpi {
namespace {

struct hook {
  std::atomic<void (*)()> tend{nullptr};
  std::atomic<bool> was_called{false};
};

hook& the_hook() {
  static hook one;
  return one;
}

}  // namespace

bool hook_into_progress(void (*tend)(), bool many_threads) {
  if (many_threads) return false;  // UCX is called under locks that calls of MPI would take again
  hook& mine = the_hook();
  mine.was_called = false;
  progress_beneath();
  if (!mine.was_called) return false;  // another device than UCX
  // release: what the shim is made of, before a thread calls into it.
  mine.tend.store(tend, std::memory_order_release);
  return true;
}

void progress_beneath() noexcept {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

}  // namespace muster::mpi

extern "C" unsigned ucp_worker_progress(void* worker) {
  using progress_function = unsigned (*)(void*);
  static const auto beneath = muster::mpi::find_beneath<progress_function>("ucp_worker_progress");
  // What is called here may make progress in its turn, which UCX does not allow.
  thread_local bool inside = false;
  if (inside) return 0;
  inside = true;
  const unsigned events = beneath(worker);
  muster::mpi::hook& mine = muster::mpi::the_hook();
  mine.was_called.store(true, std::memory_order_relaxed);
  // acquire: see hook_into_progress.
  if (void (*const tend)() = mine.tend.load(std::memory_order_acquire)) tend();
  inside = false;
  return events;
}
