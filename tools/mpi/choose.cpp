#include "tools/mpi/choose.hpp"

#include <memory>
#include <string_view>

#include <muster/run/perform.hpp>

#include "tools/mpi/left_to_mpi.hpp"
#include "tools/mpi/shim.hpp"

namespace muster::mpi {

bool shim::choose(arguments like, const char* algorithm, fixed_text<200>& said) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr) {
    said = std::string_view("all calls go to the MPI");
    return false;
  }
  const driver::entry here(self->driver_);
  const std::shared_ptr<communicator>& world = self->communicators_.find(MPI_COMM_WORLD);
  if (world->in_the_making()) self->await_made(*world);
  if (!world->is_made()) {
    const char* const why = world->reason_to_leave();
    said = why == nullptr ? std::string_view(world->defect()) : std::string_view(why);
    return false;
  }
  team& on = world->team();
  try {
    if (algorithm != nullptr) {
      world->forget_calls();
      on.choose(like.what, algorithm);
    }
    const bool blocks = like.may_be_left == leavable::blocking;
    const kind of{routine_of(like.what), blocks ? form::blocking : form::nonblocking};
    like.may_be_left = self->leavable_form(of);
    said = self->is_left_by_hand(of, *world) ? left_to_mpi : chosen_algorithm(on, like);
    return true;
  } catch (const error& why) {
    if (algorithm != nullptr) on.choose(like.what, "");
    said = std::string_view(why.text());
    return false;
  }
}

}  // namespace muster::mpi

extern "C" bool muster_choose(const muster::arguments& like, const char* algorithm,
                              muster::fixed_text<200>& said) {
  return muster::mpi::shim::choose(like, algorithm, said);
}
