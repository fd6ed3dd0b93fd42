// MPICH has no public way into its progress loop. Where it stands on UCX each turn of that loop
// asks UCX for progress, by a function whose name is taken here.
#include <atomic>

#include "tools/mpi/next.hpp"

namespace muster::mpi {
namespace {

struct hook {
  std::atomic<void (*)()> tend{nullptr};
  bool (*has_work)() = nullptr;
  std::atomic<bool> was_called{false};
};

hook& the_hook() {
  static hook one;
  return one;
}

}  // namespace

bool has_progress_hook() {
  hook& mine = the_hook();
  // UCX is passed over where a message has come by shared memory. Another device never asks it.
  constexpr int looks = 100;
  for (int i = 0; i < looks && !mine.was_called; ++i) progress_mpi();
  return mine.was_called;
}

progress_hook hook_into_progress(const tending& tend, bool many_threads) {
  hook& mine = the_hook();
  mine.has_work = tend.has_work;
  // Where there may be many threads, UCX is called under locks that calls of MPI would take again.
  // release: what the shim is made of, before a thread calls into it.
  mine.tend.store(many_threads ? tend.without_mpi : tend.with_mpi, std::memory_order_release);
  return many_threads ? progress_hook::without_mpi : progress_hook::with_mpi;
}

// A function whose name was taken is called for good.
void resume_hook() noexcept {}

bool let_mpi_yield(bool) noexcept { return false; }

prompt_answers::prompt_answers() noexcept = default;
prompt_answers::~prompt_answers() = default;

void progress_mpi() noexcept {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

}  // namespace muster::mpi

extern "C" unsigned ucp_worker_progress(void* worker) {
  using progress_function = unsigned (*)(void*);
  static const auto beneath = muster::mpi::find_next<progress_function>("ucp_worker_progress");
  // What is called here may make progress in its turn, which UCX does not allow.
  thread_local bool inside = false;
  if (inside) return 0;
  inside = true;
  const unsigned events = beneath(worker);
  muster::mpi::hook& mine = muster::mpi::the_hook();
  mine.was_called.store(true, std::memory_order_relaxed);
  // acquire: see hook_into_progress.
  void (*const tend)() = mine.tend.load(std::memory_order_acquire);
  if (tend != nullptr && mine.has_work()) tend();
  inside = false;
  return events;
}
