#include "tools/mpi/pending.hpp"

#include <string>
#include <utility>

#include "tools/mpi/errors.hpp"

namespace muster::mpi {

pending::pending(const call& from, types& known, std::shared_ptr<communicator> on,
                 std::unique_ptr<cached_call> before, std::unique_ptr<staging> images)
    : images_(std::move(images)),
      now_(images_ ? images_->now() : from),
      on_(std::move(on)),
      known_(std::move(before)) {
  prepare(known);
}

pending::pending(const call& left, types& known, std::shared_ptr<communicator> on, leavable how)
    : now_(left), on_(std::move(on)), only_takes_place_(true) {
  what_.emplace(now_, known, on_->rank(), on_->size());
  what_->allow_leaving(how);
}

pending::pending(std::shared_ptr<persistent_operation> of, types& known,
                 std::unique_ptr<staging> images)
    : turn_of(std::move(of)),
      images_(std::move(images)),
      now_(images_ ? images_->now() : turn_of->what()),
      on_(turn_of->on()),
      known_(turn_of->take()) {
  prepare(known);
}

pending::pending(std::shared_ptr<persistent_operation> of)
    : turn_of(std::move(of)), now_(turn_of->what()), on_(turn_of->on()), makes_team_(true) {}

void pending::prepare(types& known) {
  if (known_ != nullptr) return;
  what_.emplace(now_, known, on_->rank(), on_->size(), on_->neighbors_of(now_.what));
  what_->pack();
  if (what_->means_the_same_again(now_)) {
    known_ = std::make_unique<cached_call>(now_, what_->arguments(), on_->rank());
  }
}

task<> pending::begin() {
  if (makes_team_) return turn_of->make_team();
  muster::team& where = turn_of == nullptr ? on_->team() : *turn_of->team();
  return what_ ? what_->begin(where) : known_->again(where, now_);
}

void pending::fail(const std::string& why) {
  failed_.emplace(MPI_ERR_NO_MEM, std::string(now_.function) + ": " + why);
}

void pending::fail() { failed_ = failure_of(std::current_exception(), now_.function); }

void pending::finish() {
  if (failed_) return;
  try {
    if (what_) what_->finish();
    if (images_) images_->finish();
    if (known_ == nullptr) return;
    if (turn_of != nullptr) {
      turn_of->keep(std::move(known_));
    } else {
      on_->keep(std::move(known_));
    }
  } catch (...) {
    fail();
  }
}

}  // namespace muster::mpi
