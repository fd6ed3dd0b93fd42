#include <muster/run/operation.hpp>

#include <string>
#include <utility>

#include <muster/run/prepare.hpp>

namespace muster {

void operation::choose(std::string_view text) {
  prepared_ = prepare(team_, call_, team_.selector().find(call_.what, text));
  call_.how = prepared_.how;
}

void operation::abandon_destroyed() noexcept {
  abandon(error(errc::stopped, describe() + ": destroyed before it ended", rank()));
}

namespace {

/// Instead of the algorithm where there is nothing to move: an operation like any other in the
/// team's order, that others see to be the same, and that ends at once.
task<> pass_by(context& me) {
  me.arrive();
  co_return;
}

}  // namespace

task<> operation::run() {
  task<> part = prepared_.moves_nothing ? pass_by(*this) : prepared_.chosen->run(*this, call_);
  part.surround(*this);
  out_ = true;
  return part;
}

bool operation::begin(const coroutine_place& place, std::coroutine_handle<> self) noexcept {
  if (!running_) {
    if (members().broken()) [[unlikely]] {
      refuse();
      if (refusal_ != nullptr) return true;
    }
    take_place();
  }
  if (lane_is_free()) return true;
  turn_.emplace(state());
  if (turn_->await_ready()) return true;
  turn_->await_suspend(place, self);
  return false;
}

void operation::refuse() noexcept {
  try {
    team_.require_whole();
  } catch (...) {
    refusal_ = std::current_exception();
    team_.pass_failure_on();
  }
}

void operation::enter() {
  if (refusal_ != nullptr) [[unlikely]] {
    std::rethrow_exception(std::exchange(refusal_, nullptr));
  }
  if (!turn_) return;
  turn_->await_resume();
  turn_.reset();
}

void operation::end(const std::exception_ptr& failure) noexcept {
  if (failure == nullptr) [[likely]] {
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

void operation::take_place() noexcept {
  ticket_ = books().order.begin(prepared_.fingerprint, prepared_.stages);
  if (arrival_log* const log = team_.arrivals()) [[unlikely]] {
    logged_ = log->begin(team_, prepared_, call_, ticket_.sequence);
  }
  running_ = true;
  lane_ = &board().arrival(ticket_.lane, 0);
  write_record();
  wire::virtual_time* const time = this->time();
  if (time != nullptr) [[unlikely]] {
    time->begin(ticket_.sequence, call_, prepared_.chosen->id);
  }
  if (time == nullptr && ticket_.kind >= stage_kind::lengthy) choose_copies();
}

void operation::write_record() noexcept {
  write(members().own_record(ticket_.lane), {.word = ticket_.word,
                                             .kind = prepared_.kind,
                                             .count = prepared_.count,
                                             .root = call_.root,
                                             .details = prepared_.details});
}

void operation::complete() noexcept {
  if (is_checked()) [[unlikely]] {
    if (!check_end()) return;
  }
  running_ = false;
  scratch_.clear();
  memory().announce(board().completion(index_).upto, books().order.complete(ticket_.sequence));
  log_arrival(false);
}

void operation::abandon(const error& why) noexcept {
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
  log_arrival(true);
}

void operation::release() noexcept {
  if (!kept_) {
    delete this;
    return;
  }
  end_if_running();
  out_ = false;
}

operation& operation_of(const task<>& collective, std::string_view who) {
  auto* const found = dynamic_cast<operation*>(collective ? collective.surrounded_by() : nullptr);
  if (found != nullptr && !found->is_kept()) return *found;
  throw error(
      errc::invalid_argument,
      std::string(who) + ": the task is not a collective's own; expected what one returned");
}

}  // namespace muster
