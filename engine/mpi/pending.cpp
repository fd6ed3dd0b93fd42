#include "engine/mpi/pending.hpp"

#include <string>
#include <utility>

#include "engine/mpi/errors.hpp"

namespace muster::mpi {

pending::pending(const call& from, types& known, std::shared_ptr<communicator> on,
                 std::unique_ptr<remembered> before)
    : now_(from), on_(std::move(on)), known_(std::move(before)) {
  if (known_ != nullptr) return;
  what_.emplace(from, known, on_->rank(), on_->size());
  if (what_->means_the_same_again(from)) {
    known_ = std::make_unique<remembered>(from, what_->arguments());
  }
}

task<> pending::begin() {
  return what_ ? what_->begin(on_->team()) : known_->again(on_->team(), now_);
}

void pending::fail(const std::string& why) {
  failed_.emplace(MPI_ERR_NO_MEM, std::string(now_.function) + ": " + why);
}

void pending::fail() { failed_ = failure_of(std::current_exception(), now_.function); }

void pending::finish() {
  if (failed_) return;
  try {
    if (what_) what_->finish();
    if (known_ != nullptr) on_->keep(std::move(known_));
  } catch (...) {
    fail();
  }
}

}  // namespace muster::mpi
