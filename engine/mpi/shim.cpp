#include "engine/mpi/shim.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <utility>

#include "engine/mpi/gather.hpp"

namespace muster::mpi {
namespace {

std::unique_ptr<shim>& the_shim() {
  static std::unique_ptr<shim> one;
  return one;
}

kind kind_of(const pending& one) noexcept {
  return {one.which(), one.turn_of == nullptr ? form::nonblocking : form::persistent};
}

/// Whether a report is wanted, also of a process that has no shim.
bool& is_reporting() noexcept {
  static bool answer = false;
  return answer;
}

/// All processes together; the first one prints.
void print_report(const usages* own) {
  const std::vector<std::string> all =
      gather_texts(own == nullptr ? "" : to_text(*own) + "end\n", MPI_COMM_WORLD);
  if (all.empty()) return;
  summary whole;
  for (const std::string& one : all) {
    if (one.empty()) {
      whole.add_rank_without();
    } else {
      whole.add_rank(parse_usages(one));
    }
  }
  std::fputs(describe(whole).c_str(), stderr);
}

}  // namespace

/// Looks at the engine's clock where somebody wants to know.
class shim::stopwatch {
public:
  stopwatch(const muster::engine& clock, bool wanted) : clock_(clock) {
    if (wanted) start_ = clock.now();
  }
  std::chrono::nanoseconds read() const { return clock_.now() - start_; }

private:
  const muster::engine& clock_;
  clock_time start_{0};
};

// ---- life

std::atomic<shim*>& shim::active() noexcept {
  static std::atomic<shim*> one{nullptr};
  return one;
}

void shim::begin() {
  communicator_bootstrap world(MPI_COMM_WORLD);
  const settings own = agree_on_settings(world);
  is_reporting() = own.report;
  if (!own.takes_anything()) return;
  const conditions found = agree_on_conditions(world, {on_progress, on_progress_in_locks});
  MPI_Comm together = MPI_COMM_NULL;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &together);
  communicator_bootstrap near(together);
  std::unique_ptr<node> ranks;
  std::string why;
  auto mine = joining::done;
  try {
    ranks = join_node(near, {.progress = own.progress,
                             .processor = own.processor,
                             .may_nap = !found.some_have_threads});
  } catch (const error& failed) {
    why = failed.text();
    mine = failed.code() == errc::invalid_argument ? joining::wrong_setting : joining::failed;
  } catch (const std::exception& failed) {
    why = failed.what();
    mine = joining::failed;
  }
  if (!all_joined(near, mine, why, own.report)) {
    ranks.reset();
    PMPI_Comm_free(&together);
    return;
  }
  the_shim() = std::make_unique<shim>(own, found, together, std::move(ranks));
  // release: all of it, for other threads.
  active().store(the_shim().get(), std::memory_order_release);
}

void shim::end() {
  std::optional<usages> own;
  if (shim* const one = active().load(std::memory_order_relaxed)) {
    // What belongs to freed requests is still to be completed.
    const driver::visit here(one->driver_);
    one->driver_.until([one] {
      one->look();
      return one->under_way_.load(std::memory_order_relaxed) == 0 &&
             !one->communicators_.has_unmade();
    });
    if (one->tally_.wanted()) own = one->report();
  }
  if (std::exchange(is_reporting(), false)) print_report(own ? &*own : nullptr);
  active().store(nullptr, std::memory_order_relaxed);
  the_shim().reset();
}

shim::shim(const settings& own, const conditions& found, MPI_Comm together,
           std::unique_ptr<node> ranks)
    : settings_(own),
      taken_(own.enabled),
      together_(together),
      node_(std::move(ranks)),
      driver_(node_->engine(), found.some_have_threads),
      hook_(found.hook),
      all_have_threads_(found.all_have_threads),
      tally_(own.report),
      communicators_(together_, *node_, driver_) {
  if (hook_ == progress_hook::none) {
    // An operation would stand still while the program waits for something else.
    for (auto& forms_of_one : taken_) {
      forms_of_one[static_cast<std::size_t>(form::nonblocking)] = false;
      forms_of_one[static_cast<std::size_t>(form::persistent)] = false;
    }
  }
  if (!own.report) return;
  driver_.on_engine([this] {
    arrivals_ = std::make_unique<arrival_log>(driver_.engine());
    node_->team().record_arrivals(arrivals_.get());
  });
}

shim::~shim() {
  delete_done_with();
  free_operations();
  PMPI_Comm_free(&together_);
}

usages shim::report() {
  std::vector<arrival_log::site> sites;
  driver_.on_engine([&] {
    node_->team().record_arrivals(nullptr);
    sites = arrivals_->sites();
  });
  for (arrival_log::site& one : sites) one.what = kind::numbered(one.label).name();
  const std::vector<std::string> all =
      gather_texts(write_arrivals(node_->team(), std::move(sites)), together_);
  usages own = tally_.all();
  if (all.empty()) return own;
  const std::map<std::string, balance> judged = judge_arrivals(all);
  // Also where only others of this machine made such calls.
  for (std::uint64_t number = 0; number < routines * forms; ++number) {
    const kind of = kind::numbered(number);
    const auto at = judged.find(of.name());
    if (at != judged.end()) own[of].arrivals = at->second;
  }
  return own;
}

// ---- calls

void shim::pass(kind of) {
  if (!tally_.wanted()) return;
  const driver::visit here(driver_);
  const bool is_enabled = settings_.takes(of.which, of.how);
  tally_.left(of, is_enabled ? "no way into its progress" : "not in MUSTER_ENABLE");
}

bool shim::is_left(const call& what, form how, const communicator& on) {
  const char* reason = on.reason_to_leave();
  if (reason == nullptr) reason = reason_to_leave(what, types_, mpi_may_not_combine(how));
  if (reason == nullptr) {
    if (!on.defect().empty()) throw error(errc::resource, on.defect());
    return false;
  }
  if (tally_.wanted()) tally_.left({what.what, how}, reason);
  return true;
}

const char* shim::mpi_may_not_combine(form how) const noexcept {
  if (driver_.engine().has_own_thread()) {
    return all_have_threads_ ? nullptr : "the MPI's operation in a thread";
  }
  const bool drives_in_locks = hook_ == progress_hook::without_mpi && how != form::blocking;
  return drives_in_locks ? "the MPI's operation in its progress" : nullptr;
}

answer shim::blocking(const call& what) {
  if (what.comm == MPI_COMM_NULL) return {};  // an error that the MPI knows best
  const stopwatch watch(driver_.engine(), tally_.wanted());
  const driver::visit here(driver_);
  const kind of{what.what, form::blocking};
  try {
    const std::shared_ptr<communicator>& on = communicators_.find(what.comm);
    if (remembered* const before = on->recall(what)) {
      carry_out(of, before->again(on->team(), what));
      note(of, watch, on->team(), before->meant());
      return {true, MPI_SUCCESS};
    }
    if (on->in_the_making()) await_made(*on);
    if (is_left(what, form::blocking, *on)) return {};
    translation own(what, types_, on->rank(), on->size());
    if (own.means_the_same_again(what)) on->remember(what, own.arguments());
    carry_out(of, own.begin(on->team()));
    own.finish();
    note(of, watch, on->team(), own.arguments());
    return {true, MPI_SUCCESS};
  } catch (...) {
    return refuse(what);
  }
}

void shim::carry_out(kind of, task<>&& work) {
  if (tally_.wanted()) work = marked(of, std::move(work));
  driver_.run(std::move(work));
}

void shim::note(kind of, const stopwatch& since, const team& on, const arguments& what) {
  if (!tally_.wanted()) return;
  tally_.spent(of, since.read());
  tally_.took(of, on, what);
}

task<> shim::marked(kind of, task<> work) {
  mark_arrivals(of);
  co_await std::move(work);
}

void shim::await_made(communicator& one) {
  driver_.until([&] { return one.advance(); });
  start_waiting(&communicator::advance);  // those that were called before
}

answer shim::refuse(const call& what) {
  const failure why = failure_of(std::current_exception(), what.function);
  return {true, report_failure(what.comm, why)};
}

int shim::report_failure(MPI_Comm on, const failure& why) {
  const MPI_Comm handler = on == MPI_COMM_NULL ? MPI_COMM_WORLD : on;
  return handle(handler, errors_.code_for(why.error_class, why.text), why.text);
}

answer shim::nonblocking(const call& what, MPI_Request* request) {
  if (what.comm == MPI_COMM_NULL) return {};
  const driver::visit here(driver_);
  delete_done_with();
  try {
    const std::shared_ptr<communicator>& on = communicators_.find(what.comm);
    if (is_left(what, form::nonblocking, *on)) return {};
    std::unique_ptr<pending> one = prepare(what, on);
    if (unused_.empty()) make_room();
    const int made = PMPI_Grequest_start(query, free, cancel, one.get(), request);
    if (made != MPI_SUCCESS) return {true, made};
    pending& begun = *one.release();  // the request's, from now on
    begun.request = *request;
    list(begun);
    start_or_wait(begun);
    return {true, MPI_SUCCESS};
  } catch (...) {
    return refuse(what);
  }
}

answer shim::persistent(const call& what, MPI_Request* request) {
  if (what.comm == MPI_COMM_NULL) return {};
  const driver::visit here(driver_);
  try {
    std::shared_ptr<communicator> on = communicators_.find(what.comm);
    if (is_left(what, form::persistent, *on)) return {};
    const translation trial(what, types_, on->rank(), on->size());
    repeated_.add(what, std::move(on), request);
    repeats_.store(true, std::memory_order_relaxed);
    return {true, MPI_SUCCESS};
  } catch (...) {
    return refuse(what);
  }
}

std::unique_ptr<pending> shim::prepare(const call& what, const std::shared_ptr<communicator>& on) {
  if (std::unique_ptr<remembered> before = on->take(what)) {
    return std::make_unique<pending>(what, std::move(before), on);
  }
  return std::make_unique<pending>(what, types_, on);
}

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
  const driver::visit here(self->driver_);
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
  const driver::visit here(self->driver_);
  self->driver_.drive_once();
  self->look();
}

bool shim::needs_looks(std::span<const MPI_Request> requests) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || self->hook_ != progress_hook::without_mpi ||
      self->under_way_.load(std::memory_order_relaxed) == 0) {
    return false;
  }
  const driver::visit here(self->driver_);
  return std::ranges::any_of(requests, [self](MPI_Request one) { return self->is_under_way(one); });
}

bool shim::is_under_way(MPI_Request request) const {
  if (nonblocking_.contains(request)) return true;
  if (!repeats_.load(std::memory_order_relaxed)) return false;
  const std::shared_ptr<repeated> one = repeated_.find(request);
  return one != nullptr && one->under_way();
}

void shim::started(MPI_Request request) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || !self->repeats_.load(std::memory_order_relaxed)) return;
  const driver::visit here(self->driver_);
  const std::shared_ptr<repeated> one = self->repeated_.find(request);
  if (one == nullptr) return;
  std::unique_ptr<pending> turn = self->prepare(one->what(), one->on());
  turn->turn_of = one;
  one->begin();
  self->start_or_wait(*turn.release());  // complete_ended deletes it
}

bool shim::freed(MPI_Request request) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || !self->has_requests()) return false;
  const driver::visit here(self->driver_);
  self->repeated_.remove(request);
  const auto at = self->nonblocking_.find(request);
  if (at == self->nonblocking_.end()) return false;
  at->second->is_freed = true;
  return true;
}

std::optional<std::string> shim::text_of(int code) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr) return std::nullopt;
  const driver::visit here(self->driver_);
  const std::string* const text = self->errors_.text_of(code);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

bool shim::freed_operation(MPI_Op op) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr || reduction_of(op) != reduction::custom) return false;
  const driver::visit here(self->driver_);
  if (!self->needs_operations()) return false;
  self->freed_operations_.push_back(op);
  return true;
}

// ---- operations under way

void shim::on_progress() {
  shim* const one = active().load(std::memory_order_acquire);
  if (one == nullptr || one->under_way_.load(std::memory_order_relaxed) == 0) return;
  one->driver_.tend([one]() noexcept { one->look(); });
}

void shim::on_progress_in_locks() {
  shim* const one = active().load(std::memory_order_acquire);
  if (one == nullptr || one->under_way_.load(std::memory_order_relaxed) == 0) return;
  one->driver_.tend([one]() noexcept {
    if (!one->waiting_.empty()) one->start_waiting(&communicator::advance_without_mpi);
  });
}

void shim::look() {
  delete_done_with();
  communicators_.bury();
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
  under_way_.fetch_add(1, std::memory_order_relaxed);
  const bool others_wait = std::ranges::any_of(
      waiting_, [&one](const pending* other) { return &other->on() == &one.on(); });
  if (one.on().is_made() && !others_wait) {
    start(one);
  } else {
    waiting_.push_back(&one);
  }
}

void shim::start(pending& one) {
  if (tally_.wanted()) tally_.took(kind_of(one), one.on().team(), one.what());
  const auto begun = muster::start(driver_.engine(), run(one));  // `ended_` tells of its end
}

task<> shim::run(pending& one) {
  mark_arrivals(kind_of(one));
  try {
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
  static const auto beneath = find_beneath<decltype(&PMPI_Op_free)>("PMPI_Op_free");
  for (MPI_Op& one : std::exchange(freed_operations_, {})) beneath(&one);
}

void shim::complete(pending& one) {
  one.finish();
  if (one.turn_of == nullptr) {
    MPI_Request request = one.request;
    const bool is_freed = one.is_freed;
    unlist(request);
    PMPI_Grequest_complete(request);  // with which `one` may go
    static const auto free_beneath =
        find_beneath<decltype(&PMPI_Request_free)>("PMPI_Request_free");
    if (is_freed) free_beneath(&request);
    return;
  }
  const std::unique_ptr<pending> turn(&one);
  turn->turn_of->end();
  if (turn->failed()) report_failure(turn->on().handle(), *turn->failed());
  repeated_.complete(*turn->turn_of);
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
  const driver::visit here(self->driver_);
  self->communicators_.bury();
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
