// Calls on buffers that may be in an accelerator's memory.
#include <memory>
#include <utility>

#include "tools/mpi/shim.hpp"

namespace muster::mpi {

std::unique_ptr<staging> shim::stage_if_needed(const call& what, communicator& on,
                                               staging::copying how) {
  if (!devices_.look() || on.reason_to_leave() != nullptr) return nullptr;
  const block_numbers blocks{on.blocks_sent(what.what), on.blocks_received(what.what)};
  return staging::of(what, devices_, host_memory_, on.rank(), blocks, how);
}

answer shim::blocking_anywhere(const call& what) {
  if (what.comm == MPI_COMM_NULL) return {};
  std::unique_ptr<staging> images;
  try {
    const driver::entry here(driver_);
    if (devices_.look()) {
      const std::shared_ptr<communicator> on = communicators_.find(what.comm);
      make_on_all(*on);
      if (is_left(what, form::blocking, *on)) return {};
      if (!will_leave(what, *on)) images = stage(what, *on);
    }
  } catch (...) {
    const driver::entry here(driver_);
    return refuse(what);
  }
  if (images == nullptr) return blocking_on_host(what);
  // With an entry of its own: that it waits in must be the only one.
  const answer done = blocking_on_host(images->now());
  if (!done.by_muster || done.code != MPI_SUCCESS) return done;
  try {
    images->finish();
    return done;
  } catch (...) {
    const driver::entry here(driver_);
    return refuse(what);
  }
}

}  // namespace muster::mpi
