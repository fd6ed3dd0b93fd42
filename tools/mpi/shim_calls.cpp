// The calls themselves: which are Muster's, and what becomes of them.
#include <chrono>
#include <exception>
#include <utility>

#include <muster/run/prepare.hpp>

#include "tools/mpi/left_to_mpi.hpp"
#include "tools/mpi/shim.hpp"

namespace muster::mpi {
namespace {

/// Why a call is left that Muster could carry out.
constexpr const char* as_selected = "as selected";

/// Whether it will be left, when it has taken its place.
bool is_to_be_left(const arguments& what, team& on) {
  return what.may_be_left != leavable::no && on.prepare_call(what).chosen->leaves != leavable::no;
}

/// The most that a call needs, as far as is known before its communicator has a team.
stage_kind stages_for(const communicator& on, const arguments& what) {
  if (!on.is_made() || has_varying_blocks(what.what)) return stage_kind::very_long;
  try {
    return prepare(on.team(), what).stages;
  } catch (const error&) {  // its turns will say why
    return stage_kind::very_long;
  }
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

void shim::pass(kind of) {
  if (!tally_.wanted()) return;
  const driver::entry here(driver_);
  const bool is_enabled = settings_.takes(of.which, of.how);
  tally_.left(of, is_enabled ? "no way into its progress" : "not in MUSTER_ENABLE");
}

bool shim::is_left(const call& what, form how, communicator& on) {
  const char* reason = on.reason_to_leave();
  if (reason == nullptr && has_neighbors(collective_of(what.what)) && on.neighbors() == nullptr) {
    reason = "no topology";
  }
  if (reason == nullptr && is_left_by_hand({what.what, how}, on)) reason = as_selected;
  if (reason == nullptr) reason = reason_to_leave(what, types_, mpi_may_not_combine(how));
  if (reason == nullptr) {
    if (!on.defect().empty()) throw error(errc::resource, on.defect());
    return false;
  }
  if (tally_.wanted()) tally_.left({what.what, how}, reason);
  return true;
}

leavable shim::leavable_form(kind of) const noexcept {
  if (settings_.progress.who != progress_choice::by::caller) return leavable::no;
  return leavable_as(collective_of(of.which), of.how);
}

bool shim::is_left_by_hand(kind of, const communicator& on) const {
  if (of.how == form::blocking && leavable_form(of) != leavable::no) return false;
  const team& chosen_for = on.is_made() ? on.team() : node_->team();
  const algorithm* const row = chosen_for.selector().chosen(collective_of(of.which)).row;
  return row != nullptr && row->id == left_to_mpi;
}

bool shim::will_leave(const call& what, communicator& on) {
  translation like(what, types_, on.rank(), on.size(), on.neighbors_of(what.what));
  like.allow_leaving(leavable_form({what.what, form::blocking}));
  return is_to_be_left(like.arguments(), on.team());
}

answer shim::leave(kind of) {
  if (tally_.wanted()) tally_.left(of, as_selected);
  return {.is_left = true};
}

const char* shim::mpi_may_not_combine(form how) const noexcept {
  if (driver_.engine().has_own_thread()) {
    return all_have_threads_ ? nullptr : "the MPI's operation in a thread";
  }
  const bool without_mpi = hook_ == progress_hook::without_mpi && how != form::blocking;
  return without_mpi ? "the MPI's operation in its progress" : nullptr;
}

answer shim::blocking_on_host(const call& what) {
  if (what.comm == MPI_COMM_NULL) return {};  // an error that the MPI knows best
  const stopwatch watch(driver_.engine(), tally_.wanted());
  const driver::entry here(driver_);
  const kind of{what.what, form::blocking};
  try {
    const std::shared_ptr<communicator>& on = communicators_.find(what.comm);
    on->leaving_barriers().begin(what, on->rank());
    if (cached_call* const before = on->recall(what)) {
      carry_out(of, before->again(on->team(), what));
      if (before->is_left()) return leave(of);
      on->leaving_barriers().end(on->team());
      note(of, watch, on->team(), before->meant());
      return {true, MPI_SUCCESS};
    }
    make_on_all(*on);
    if (is_left(what, form::blocking, *on)) return {};
    translation own(what, types_, on->rank(), on->size(), on->neighbors_of(what.what));
    own.allow_leaving(leavable_form(of));
    if (own.means_the_same_again(what)) on->remember(what, own.arguments());
    const bool leaves = is_to_be_left(own.arguments(), on->team());
    if (!leaves) own.pack();
    carry_out(of, own.begin(on->team()));
    if (leaves) return leave(of);
    own.finish();
    note(of, watch, on->team(), own.arguments());
    return {true, MPI_SUCCESS};
  } catch (...) {
    return refuse(what);
  }
}

int shim::go_on(task<> rest, communicator& on, const char* function) {
  const MPI_Comm handle = on.handle();
  try {
    if (rest.done()) {
      rest.take();
    } else {
      driver_.run(std::move(rest));
    }
    on.leaving_barriers().end(on.team());
    return MPI_SUCCESS;
  } catch (...) {
    return refuse(handle, function).code;
  }
}

void shim::carry_out(kind of, task<>&& work) {
  if (tally_.wanted()) work = marked(of.number(), std::move(work));
  driver_.run(std::move(work));
}

void shim::note(kind of, const stopwatch& since, const team& on, const arguments& what) {
  if (!tally_.wanted()) return;
  tally_.spent(of, since.read());
  tally_.took(of, on, what);
}

task<> shim::marked(std::uint64_t label, task<> work) {
  mark_arrivals(label);
  co_await std::move(work);
}

void shim::make_on_all(communicator& one) {
  if (one.in_the_making() || !waiting_.empty()) await_made(one);
  one.note_made_on_all();
}

void shim::await_made(communicator& one) {
  driver_.until([&] { return one.advance(); });
  start_waiting(&communicator::advance);  // those that were called before
}

answer shim::refuse(MPI_Comm on, const char* function) {
  return {true, report_failure(on, failure_of(std::current_exception(), function))};
}

int shim::report_failure(MPI_Comm on, const failure& why) {
  const int code = errors_.code_for(why.error_class, why.text);
  const driver::absence from_here(driver_);
  return handle(on, code, why.text);
}

answer shim::nonblocking(const call& what, MPI_Request* request) {
  if (what.comm == MPI_COMM_NULL) return {};
  const driver::entry here(driver_);
  delete_done_with();
  try {
    const std::shared_ptr<communicator>& on = communicators_.find(what.comm);
    std::unique_ptr<cached_call> before = on->take(what);
    if (before == nullptr && is_left(what, form::nonblocking, *on)) return {};
    const bool stays = before != nullptr && before->stays();
    if (!stays && leaves_some_requests(what, *on)) {
      if (takes_place(what, on)) return leave({what.what, form::nonblocking});
      if (before != nullptr) before->stay();
    }
    auto one = std::make_unique<pending>(what, types_, on, std::move(before), stage(what, *on));
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

// Each rank has to decide alike, whether or not its own part of the team is ready before others'.
bool shim::leaves_some_requests(const call& what, const communicator& on) const {
  const kind of{what.what, form::nonblocking};
  const leavable as = leavable_form(of);
  return as != leavable::no && on.is_made_on_all() &&
         on.team().selector().leaves_some(collective_of(of.which), as);
}

bool shim::takes_place(const call& what, const std::shared_ptr<communicator>& on) {
  auto place = std::make_unique<pending>(what, types_, on, leavable::nonblocking);
  if (!is_to_be_left(place->what(), on->team())) return false;
  on->team().require_whole();       // nobody waits to hear of it
  start_or_wait(*place.release());  // complete_ended deletes it
  return true;
}

answer shim::persistent(const call& what, MPI_Request* request) {
  if (what.comm == MPI_COMM_NULL) return {};
  const driver::entry here(driver_);
  try {
    std::shared_ptr<communicator> on = communicators_.find(what.comm);
    if (is_left(what, form::persistent, *on)) return {};
    const auto images = stage(what, *on, staging::copying::no);
    const translation trial(images ? images->now() : what, types_, on->rank(), on->size(),
                            on->neighbors_of(what.what));
    const stage_kind needs = stages_for(*on, trial.arguments());
    auto to_make = std::make_unique<pending>(persistent_.add(what, std::move(on), needs, request));
    any_persistent_.store(true, std::memory_order_relaxed);
    start_or_wait(*to_make.release());  // complete_ended deletes it
    return {true, MPI_SUCCESS};
  } catch (...) {
    return refuse(what);
  }
}

std::optional<std::string> shim::text_of(int code) {
  shim* const self = active().load(std::memory_order_relaxed);
  if (self == nullptr) return std::nullopt;
  const driver::entry here(self->driver_);
  const std::string* const text = self->errors_.text_of(code);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

}  // namespace muster::mpi
