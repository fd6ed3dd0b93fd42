#include "tools/mpi/cached_call.hpp"

#include <string>

#include <muster/base/error.hpp>
#include <muster/run/perform.hpp>

namespace muster::mpi {

task<> cached_call::again(team& on, const call& now) {
  if (ready_ == nullptr) {
    const task<> first = perform(on, meant_);
    ready_.reset(&operation_of(first, now.function));
    ready_->keep(operation::keeper::plan);
    is_left_ = ready_->chosen().leaves != leavable::no;
  }
  if (ready_->is_out()) {
    throw error(errc::invalid_argument, std::string(now.function) +
                                            ": called again before the last such call's end; "
                                            "expected one at a time");
  }
  move_to(now, *ready_);
  return ready_->run();
}

}  // namespace muster::mpi
