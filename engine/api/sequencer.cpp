#include <muster/api/sequencer.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace muster {
namespace {

/// Keys that go in one message.
using batch = std::array<std::uint64_t, 64>;

std::string text_of(std::uint64_t key, const std::string& after) {
  return "sequencer: key " + std::to_string(key) + after;
}

}  // namespace

/// Waits until a key is the first in the order.
class sequencer::turn final : public waiter {
public:
  turn(sequencer& in, std::uint64_t key, const stop_scope* around)
      : in_(in), key_(key), around_(around) {
    in_.add(*this);
  }
  ~turn() { in_.remove(*this); }

  std::uint64_t key() const noexcept { return key_; }

  bool ready() noexcept override {
    if (in_.failure_) return true;
    return !in_.order_.empty() && in_.order_.front() == key_ && in_.waiting_[key_].front() == this;
  }
  bool interrupted(clock_time now, bool) noexcept override {
    if (around_ != nullptr && around_->stopped(now)) {
      return interrupted_by_scope(now, [this] { return describe() + ": "; }, in_.on_.rank());
    }
    if (!scope()->stopped(now) || ready()) return false;
    interrupt(in_.miss(key_));
    return true;
  }
  std::string describe() const override { return text_of(key_, " waits for its turn"); }

  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(in_.engine(), self);
  }
  void await_resume() { rethrow_interruption(); }

private:
  sequencer& in_;
  std::uint64_t key_;
  const stop_scope* around_;
};

sequencer::sequencer(muster::team& on, sequencer_options how)
    : on_(on), how_(how), number_(on.count_sequencers()), untold_(std::make_shared<telling>()) {
  if (how.leader >= on.size()) {
    throw error(errc::invalid_argument, "sequencer: leader is " + std::to_string(how.leader) +
                                            "; expected a rank from 0 to " +
                                            std::to_string(on.size() - 1));
  }
}

sequencer::~sequencer() {
  if (leads() && pumping_.valid()) std::move(pumping_).detach();
}

void sequencer::close() noexcept {
  failure_ = std::make_exception_ptr(error(errc::stopped, "sequencer: it was closed", on_.rank()));
  engine().ring();
}

error sequencer::with_key(std::uint64_t key, const error& why) {
  return {static_cast<errc>(why.code().value()), text_of(key, ": " + why.text()), why.rank()};
}

// ---- calls

task<> sequencer::turn_of(std::uint64_t key, const stop_scope* around) {
  const auto require_wanted = [&] {
    if (failure_) std::rethrow_exception(failure_);
    if (untold_->failure) std::rethrow_exception(untold_->failure);
    if (around == nullptr) return;
    if (const auto why = around->stopped(engine().now())) {
      throw error(*why, text_of(key, ": taken back before its turn"), on_.rank());
    }
  };
  require_wanted();
  turn mine(*this, key, around);
  call(key);
  co_await mine;
  require_wanted();  // what was asked for just before the turn came
}

void sequencer::call(std::uint64_t key) {
  if (leads()) {
    order_.push_back(key);
    untold_->keys.push_back(key);
  }
  pump();
}

void sequencer::add(turn& one) {
  waiting_[one.key()].push_back(&one);
  ++waiting_count_;
}

void sequencer::remove(turn& one) noexcept {
  const auto at = waiting_.find(one.key());
  std::erase(at->second, &one);
  if (at->second.empty()) waiting_.erase(at);
  --waiting_count_;
}

bool sequencer::is_ordered(std::uint64_t key, std::size_t times) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(order_, key)) >= times;
}

// Of one that has waited too long: why.
std::exception_ptr sequencer::miss(std::uint64_t key) noexcept {
  const std::string leader = "rank " + std::to_string(how_.leader);
  if (!is_ordered(key)) {
    return std::make_exception_ptr(
        error(errc::deadline_exceeded,
              text_of(key, " was not called by " + leader + ", the leader, within the deadline"),
              how_.leader));
  }
  // Others have begun what comes before and wait for this rank.
  const std::string text =
      text_of(order_.front(), ", which " + leader + " called, was not called by rank " +
                                  std::to_string(on_.rank()) + " within the deadline");
  on_.members().fail({.code = errc::deadline_exceeded, .rank = on_.rank(), .text = text});
  failure_ = std::make_exception_ptr(error(errc::deadline_exceeded, text, on_.rank()));
  return failure_;
}

// ---- keys

void sequencer::pump() {
  bool& is_under_way = leads() ? untold_->is_under_way : hears_;
  if (std::exchange(is_under_way, true)) return;
  auto work = leads() ? tell_keys(on_, label(), untold_) : hear_keys();
  pumping_ = start(engine(), std::move(work));
}

mailbox::label sequencer::label() const noexcept { return {number_, mailbox::owner::sequencer}; }

task<> sequencer::tell_keys(muster::team& on, mailbox::label label, std::shared_ptr<telling> what) {
  try {
    while (!what->keys.empty()) {
      batch told{};
      const std::size_t count = std::min(what->keys.size(), told.size());
      std::copy_n(what->keys.begin(), count, told.begin());
      what->keys.erase(what->keys.begin(), what->keys.begin() + static_cast<std::ptrdiff_t>(count));
      for (std::size_t rank = 0; rank < on.size(); ++rank) {
        if (rank == on.rank()) continue;
        co_await on.mail().send(rank, label, std::as_bytes(std::span(told).first(count)));
      }
    }
  } catch (...) {
    what->failure = std::current_exception();
  }
  what->is_under_way = false;
}

bool sequencer::awaits_more() const {
  return std::ranges::any_of(
      waiting_, [this](const auto& each) { return !is_ordered(each.first, each.second.size()); });
}

// For as long as somebody here waits for a key that is not in the order yet.
task<> sequencer::hear_keys() {
  try {
    while (awaits_more()) {
      batch heard{};
      const std::size_t bytes = co_await on_.mail().receive(
          how_.leader, label(), std::as_writable_bytes(std::span(heard)), sizeof(std::uint64_t));
      const auto keys = std::span(heard).first(bytes / sizeof(std::uint64_t));
      order_.insert(order_.end(), keys.begin(), keys.end());
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  hears_ = false;
}

}  // namespace muster
