#include "tools/c/operation.hpp"

#include <exception>

#include "tools/c/team.hpp"

muster_operation::~muster_operation() { leave_list(); }

void muster_operation::begin(muster::task<> work) {
  on_->drop_ended();
  on_->add(*this);
  is_listed_ = true;
  running_ = muster::start(on_->in().engine(), std::move(work));
  // The descriptor may have been armed for what waited before.
  on_->in().look();
}

void muster_operation::leave_list() noexcept {
  if (is_listed_) on_->remove(*this);
  is_listed_ = false;
}

int muster_operation::wait() noexcept {
  try {
    running_.wait();
    return MUSTER_SUCCESS;
  } catch (...) {
    return muster::c::report_current(call_);
  }
}

int muster_operation::conclude() {
  leave_list();
  if (on_ == nullptr) return muster::c::report(how_.value_or(muster::c::failure{}));
  const int code = wait();
  if (told_ != nullptr && made_ != nullptr) *told_ = on_->in().add(std::move(made_));
  return code;
}

void muster_operation::end_without_team() noexcept {
  try {
    running_.wait();
  } catch (...) {
    how_ = muster::c::failure_of(std::current_exception(), call_);
  }
  made_.reset();
  is_listed_ = false;
  on_ = nullptr;
}
