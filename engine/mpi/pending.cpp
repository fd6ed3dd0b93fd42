#include "engine/mpi/pending.hpp"

#include <string>
#include <utility>

#include "engine/mpi/errors.hpp"

namespace muster::mpi {

pending::pending(const call& from, types& known, std::shared_ptr<communicator> on)
    : which_(from.what),
      function_(from.function),
      on_(std::move(on)),
      what_(from, known, on_->rank(), on_->size()) {}

task<> pending::run() {
  try {
    co_await what_.begin(on_->team());
  } catch (...) {
    failed_ = failure_of(std::current_exception(), function_);
  }
}

void pending::fail(const std::string& why) {
  failed_.emplace(MPI_ERR_NO_MEM, std::string(function_) + ": " + why);
}

void pending::finish() {
  if (failed_) return;
  try {
    what_.finish();
  } catch (...) {
    failed_ = failure_of(std::current_exception(), function_);
  }
}

}  // namespace muster::mpi
