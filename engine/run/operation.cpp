#include <muster/run/operation.hpp>

#include <string>
#include <utility>

#include <muster/run/kept_operations.hpp>
#include <muster/run/prepare.hpp>

namespace muster {

void operation::choose(std::string_view text) {
  prepared_ = prepare(team_, call_, team_.selector().find(call_.what, text));
  call_.how = prepared_.how;
  at_once_ = quick_form();
}

void operation::clean_up() noexcept {
  turn_.reset();  // its coroutine may go before this object does
  failure_ = nullptr;
  if (running_) abandon_destroyed();
}

void operation::abandon_destroyed() noexcept {
  abandon(error(errc::stopped, describe() + ": destroyed before it ended", rank()));
}

namespace {

/// Instead of the algorithm where there is nothing to move, or the caller will: an operation like
/// any other in the team's order, that others see to be the same, and that ends at once.
task<> only_take_place(context& me) {
  me.arrive();
  co_return;
}
bool only_take_place_at_once(context& me, const arguments&) {
  me.arrive();
  return true;
}

}  // namespace

// Where time is virtual, work takes some, for which only a coroutine can wait.
operation::quick_function operation::quick_form() const noexcept {
  if (prepared_.only_takes_place) return only_take_place_at_once;
  return time() == nullptr ? prepared_.chosen->at_once : nullptr;
}

void operation::begin_other_than_short() noexcept {
  if (arrival_log* const log = team_.arrivals()) {
    logged_ = log->begin(team_, prepared_, call_, ticket_.sequence);
  }
  if (wire::virtual_time* const time = this->time()) {
    time->begin(ticket_.sequence, call_, prepared_.chosen->id);
  } else if (ticket_.kind >= stage_kind::lengthy) {
    choose_copies();
  }
}

void operation::log_end(bool failed) const noexcept {
  team_.arrivals()->end(logged_, ticket_.sequence, failed);
}

inline wire::recorded_call operation::recorded() const noexcept {
  return {.word = ticket_.word,
          .kind = prepared_.kind,
          .count = prepared_.count,
          .root = call_.root,
          .details = prepared_.details};
}

void operation::write_record() noexcept {
  wire::call_record& mine = members().own_record(ticket_.lane);
  // relaxed: this thread alone writes it.
  if (mine.word.load(std::memory_order_relaxed) != ticket_.word) write(mine, recorded());
}

inline bool operation::take_place() noexcept {
  muster::team& on = team_;
  on.books().order.begin(ticket_, prepared_.fingerprint, prepared_.stages);
  running_ = true;
  take_arrival();
  lane_ = &board().arrival(ticket_.lane, 0);
  const wire::recorded_call call = recorded();
  const bool is_free = lane_is_free();
  if (is_free) [[likely]] {
    write(on.members().own_record(ticket_.lane), call);
  }
  if (flight_recorder* const flight = on.flight()) [[likely]] {
    flown_ = &flight->begin(call, on.id());
  }
  if (on.arrivals() != nullptr || on.time() != nullptr || ticket_.kind >= stage_kind::lengthy) {
    begin_other_than_short();
  }
  return is_free;
}

inline void operation::complete() noexcept {
  if (is_checked()) [[unlikely]] {
    if (!check_end()) return;
  }
  running_ = false;
  scratch_.clear();
  muster::team& on = team_;
  wire::node_memory& memory = on.memory();
  memory.announce(memory.board().completion(index_).upto,
                  on.books().order.complete(ticket_.sequence));
  if (on.arrivals() != nullptr) [[unlikely]] {
    log_end(false);
  }
}

inline bool operation::runs_at_once() {
  return at_once_ != nullptr && (at_once_(*this, call_) || looks_on());
}

inline bool operation::ends_at_once() {
  if (!running_) {
    if (members().broken()) [[unlikely]] {
      refuse();
    }
    if (!take_place()) return false;
  } else {  // it was reserved
    if (is_on_record()) flight_recorder::last_no_more(*flown_);
    if (!lane_is_free()) return false;
    write_record();
  }
  if (!runs_at_once()) return false;
  complete();
  return true;
}

std::coroutine_handle<> operation::attempt() noexcept {
  try {
    if (!ends_at_once()) return coroutine();
  } catch (...) {
    failure_ = std::current_exception();
    end(failure_);
  }
  ended_at_once_ = true;
  return nullptr;
}

bool operation::looks_on() {
  if (!has_arrived_itself()) return false;
  if (is_on_record()) flight_recorder::look_on(*flown_);
  go_on_after_arrival();
  if (!engine().nothing_else_waits()) return false;
  return look_on(engine().looks_before_suspending(), [&] {
    if (at_once_(*this, call_)) return true;
    go_on_after_arrival();
    return false;
  });
}

std::coroutine_handle<> operation::coroutine() {
  if (is_on_record()) flight_recorder::last(*flown_);
  return task<>::surround(
      prepared_.only_takes_place ? only_take_place(*this) : prepared_.chosen->run(*this, call_),
      *this);
}

bool operation::begin(const coroutine_place& place, std::coroutine_handle<> self) noexcept {
  if (!lane_is_free()) {
    turn_.emplace(state());
    if (!turn_->await_ready()) {
      turn_->await_suspend(place, self);
      return false;
    }
  }
  write_record();
  return true;
}

void operation::refuse() {
  try {
    team_.require_whole();
  } catch (...) {
    team_.pass_failure_on();
    throw;
  }
}

void operation::enter() {
  if (!turn_) return;
  turn_->await_resume();
  turn_.reset();
  write_record();
}

void operation::end(const std::exception_ptr& failure) noexcept {
  if (failure == nullptr) [[likely]] {
    if (is_on_record()) flight_recorder::end(*flown_, false);
    return complete();
  }
  turn_.reset();
  if (running_) abandon(failure);
}

bool operation::check_end() noexcept {
  try {
    checks().complete(take_arrival(), std::exchange(lent_, 0) != 0);
  } catch (const error& why) {
    abandon(why);
    return false;
  }
  forget_posted();
  if (time() != nullptr) time()->end(ticket_.sequence, call_);
  return true;
}

void operation::abandon(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const error& why) {
    abandon(why);
  } catch (const std::exception& why) {
    abandon(error(errc::resource, describe() + ": " + why.what(), rank()));
  } catch (...) {  // a reduction of the user's own may throw anything
    abandon(error(errc::resource, describe() + ": an exception of no known type", rank()));
  }
}

void operation::reserve() noexcept {
  take_place();
  if (is_on_record()) flight_recorder::last(*flown_);
}

void operation::abandon(const error& why) noexcept {
  // While all others still are where they are.
  if (flight_recorder* const flight = team_.flight()) flight->note_breakage(why);
  running_ = false;
  take_arrival();
  lent_ = 0;
  forget_posted();
  if (wire::virtual_time* const time = this->time()) time->end(ticket_.sequence, call_);
  members().fail({.code = static_cast<errc>(why.code().value()),
                  .rank = why.rank(),
                  .text = "rank " + std::to_string(rank()) + ": " + why.text()});
  links().withdraw();
  memory().settle();
  if (team_.arrivals() != nullptr) log_end(true);
  if (is_on_record()) flight_recorder::end(*flown_, true);
}

void operation::release() noexcept {
  if (keeper_ == keeper::nobody) {
    delete this;
    return;
  }
  end_if_running();
  out_ = false;
}

void operation::drop(operation* kept) noexcept {
  if (kept->is_out()) {
    kept->keep(keeper::nobody);
  } else {
    delete kept;
  }
}

void operation::leave_team() noexcept {
  if (keeper_ == keeper::team) team_.kept().give_up(*this);
}

operation& operation_of(const task<>& collective, std::string_view who) {
  auto* const found = dynamic_cast<operation*>(collective ? collective.surrounded_by() : nullptr);
  if (found != nullptr) found->leave_team();
  if (found != nullptr && found->kept_by() == operation::keeper::nobody) return *found;
  throw error(
      errc::invalid_argument,
      std::string(who) + ": the task is not a collective's own; expected what one returned");
}

}  // namespace muster
