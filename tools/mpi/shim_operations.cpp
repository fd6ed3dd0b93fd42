// Operations that do not block, from their calls to the completion of their requests.
#include <algorithm>
#include <exception>
#include <utility>

#include "tools/mpi/shim.hpp"

namespace muster::mpi {

void shim::make_room() {
  requests one;
  unused_.push_back(one.extract(one.emplace(MPI_Request{}, nullptr).first));
  nonblocking_.reserve(nonblocking_.size() + 1);
}

void shim::list(pending& one) {
  requests::node_type node = std::move(unused_.back());
  unused_.pop_back();
  node.key() = one.request;
  node.mapped() = &one;
  nonblocking_.insert(std::move(node));
}

void shim::unlist(MPI_Request request) { unused_.push_back(nonblocking_.extract(request)); }

void shim::awaited(MPI_Request request) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || self->under_way_.load(std::memory_order_relaxed) == 0) return;
  const driver::entry here(self->driver_);
  self->driver_.until([&] {
    self->look();
    return !self->is_under_way(request);
  });
}

void shim::looked_at() {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || self->hook_ != progress_hook::without_mpi ||
      self->under_way_.load(std::memory_order_relaxed) == 0) {
    return;
  }
  const driver::entry here(self->driver_);
  self->driver_.drive_once();
  self->look();
}

bool shim::needs_looks(std::span<const MPI_Request> requests) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || self->hook_ != progress_hook::without_mpi ||
      self->under_way_.load(std::memory_order_relaxed) == 0) {
    return false;
  }
  const driver::entry here(self->driver_);
  return std::ranges::any_of(requests, [self](MPI_Request one) { return self->is_under_way(one); });
}

bool shim::is_under_way(MPI_Request request) const {
  if (nonblocking_.contains(request)) return true;
  if (!any_persistent_.load(std::memory_order_relaxed)) return false;
  const std::shared_ptr<persistent_operation> one = persistent_.find(request);
  return one != nullptr && one->under_way();
}

void shim::started(MPI_Request request) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || !self->any_persistent_.load(std::memory_order_relaxed)) return;
  const driver::entry here(self->driver_);
  const std::shared_ptr<persistent_operation> one = self->persistent_.find(request);
  if (one == nullptr) return;
  try {
    auto turn = std::make_unique<pending>(one, self->types_, self->stage(one->what(), *one->on()));
    one->begin();
    self->start_or_wait(*turn.release());  // complete_ended deletes it
  } catch (...) {
    const failure why = failure_of(std::current_exception(), one->what().function);
    self->persistent_.complete(*one);
    self->report_failure(one->on()->handle(), why);
  }
}

bool shim::freed(MPI_Request request) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || !self->has_requests()) return false;
  const driver::entry here(self->driver_);
  self->persistent_.remove(request);
  const auto at = self->nonblocking_.find(request);
  if (at == self->nonblocking_.end()) return false;
  at->second->is_freed = true;
  return true;
}

bool shim::freed_operation(MPI_Op op) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || reduction_of(op) != reduction::custom) return false;
  const driver::entry here(self->driver_);
  if (!self->needs_operations()) return false;
  self->freed_operations_.push_back(op);
  return true;
}

void shim::graph_made(MPI_Comm one) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self != nullptr && one != MPI_COMM_NULL) self->communicators_.note_graph(one);
}

shim::freeing::freeing(MPI_Comm one) : in_(active().load(std::memory_order_relaxed)) {
  if (in_ == nullptr) return;
  const driver::entry here(in_->driver_);
  in_->communicators_.begin_freeing(one);
}

shim::freeing::~freeing() {
  if (in_ == nullptr) return;
  const driver::entry here(in_->driver_);
  in_->communicators_.end_freeing();
}

// seq_cst: with `start_or_wait`, see resume_hook.
bool shim::has_work() {
  return under_way_.load(std::memory_order_seq_cst) != 0 ||
         left_.load(std::memory_order_seq_cst) != 0;
}

// What the MPI carries out needs nothing of Muster unless ranks' calls differ: few looks will do.
bool shim::is_due() noexcept {
  constexpr std::size_t between_looks = 64;
  return under_way_.load(std::memory_order_relaxed) != 0 ||
         looks_while_left_.fetch_add(1, std::memory_order_relaxed) % between_looks == 0;
}

void shim::on_progress() {
  if (!is_due()) return;
  in_progress().visit(active(),
                      [](shim& one) { one.driver_.tend([&one]() noexcept { one.look(); }); });
}

void shim::on_progress_without_mpi() {
  if (!is_due()) return;
  in_progress().visit(active(), [](shim& one) {
    one.driver_.tend([&one]() noexcept {
      if (!one.waiting_.empty()) one.start_waiting(&communicator::advance_without_mpi);
    });
  });
}

void shim::look() {
  delete_done_with();
  communicators_.reap();
  if (!waiting_.empty()) start_waiting(&communicator::advance);
  if (!ended_.empty()) complete_ended();
}

void shim::start_waiting(bool (communicator::*advance)()) {
  // A communicator that is not there yet is not looked at twice: its operations stay in order.
  std::vector<const communicator*> not_yet;
  for (pending* const one : std::exchange(waiting_, {})) {
    communicator& on = one->on();
    if (std::ranges::find(not_yet, &on) != not_yet.end() || !(on.*advance)()) {
      not_yet.push_back(&on);
      waiting_.push_back(one);
    } else if (on.is_made()) {
      start(*one);
    } else {
      one->fail(on.reason_to_leave() != nullptr ? on.reason_to_leave() : on.defect());
      ended_.push(*one);
    }
  }
}

void shim::start_or_wait(pending& one) {
  under_way_.fetch_add(1, std::memory_order_seq_cst);
  resume_hook();
  const bool others_wait = std::ranges::any_of(
      waiting_, [&one](const pending* other) { return &other->on() == &one.on(); });
  if (one.on().is_made() && !others_wait) {
    start(one);
  } else {
    waiting_.push_back(&one);
  }
}

void shim::start(pending& one) {
  if (tally_.wanted() && !one.makes_team() && !one.only_takes_place()) {
    tally_.took(one.which(), one.on().team(), one.what());
  }
  muster::start(driver_.engine(), run(one)).detach();  // `ended_` tells of its end
}

task<> shim::run(pending& one) {
  try {
    if (one.awaits_team()) co_await one.turn_of->await_team();
    mark_arrivals(one.makes_team() ? kind::numbers : one.which().number());
    co_await one.begin();
  } catch (...) {
    one.fail();
  }
  ended_.push(one);
}

void shim::complete_ended() {
  ended_.take([this](pending& one) {
    under_way_.fetch_sub(1, std::memory_order_relaxed);
    complete(one);
  });
  if (!freed_operations_.empty() && !needs_operations()) free_operations();
}

void shim::delete_done_with() {
  if (done_with_.empty()) return;
  done_with_.take([](pending& one) { delete &one; });
}

void shim::free_operations() {
  static const auto beneath = find_next<decltype(&PMPI_Op_free)>("PMPI_Op_free");
  for (MPI_Op& one : std::exchange(freed_operations_, {})) beneath(&one);
}

void shim::complete(pending& one) {
  if (one.makes_team()) {
    delete &one;
    return;
  }
  if (one.only_takes_place()) {
    const std::unique_ptr<pending> place(&one);
    return report_failure_of(*place);
  }
  one.finish();
  if (one.turn_of == nullptr) {
    MPI_Request request = one.request;
    const bool is_freed = one.is_freed;
    unlist(request);
    PMPI_Grequest_complete(request);  // with which `one` may go
    static const auto free_beneath = find_next<decltype(&PMPI_Request_free)>("PMPI_Request_free");
    if (is_freed) free_beneath(&request);
    return;
  }
  const std::unique_ptr<pending> turn(&one);
  turn->turn_of->end();
  persistent_.complete(*turn->turn_of);
  report_failure_of(*turn);
}

void shim::report_failure_of(const pending& one) {
  if (!one.failed()) return;
  const failure& why = *one.failed();
  handle(one.on().handle(), errors_.code_for(why.error_class, why.text), why.text);
}

// ---- generalized requests

int shim::query(void* extra, MPI_Status* status) {
  pending& one = *static_cast<pending*>(extra);
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  shim* const self = active().load(std::memory_order_relaxed);
  if (!one.failed() || self == nullptr) return MPI_SUCCESS;
  const driver::entry here(self->driver_);
  self->communicators_.reap();
  if (!one.code) one.code = self->report_failure(one.on().handle(), *one.failed());
  return *one.code;
}

int shim::free(void* extra) {
  auto* const one = static_cast<pending*>(extra);
  // The MPI may hold its locks here, and be on whichever thread.
  if (shim* const self = active().load(std::memory_order_relaxed)) {
    self->done_with_.push(*one);
  } else {
    delete one;
  }
  return MPI_SUCCESS;
}

int shim::cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace muster::mpi
