#include <muster/progress/engine.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include <muster/base/error.hpp>
#include <muster/progress/affinity.hpp>

namespace muster {

// ---- waiter

void waiter::withdraw() noexcept { list_->erase(*this); }

void waiter::link(engine& where, std::coroutine_handle<> self) noexcept {
  resume_ = self;
  where.link(*this, where.asked_);
}

void waiter::link_behind_another(engine& where, std::coroutine_handle<> self) noexcept {
  resume_ = self;
  where.link(*this, where.behind_others_);
}

// In front: what it waited for has just happened to another one, so that it may be ready, too.
void waiter::be_asked(engine& where) noexcept {
  list_->erase(*this);
  where.asked_.push_front(*this);
}

bool waiter::interrupted(clock_time now, bool /*thorough*/) noexcept {
  return interrupted_by_scope(now, [] { return std::string("wait "); }, no_rank);
}

// ---- doorbell

doorbell::doorbell() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0) throw error(errc::resource, "engine: cannot make an eventfd");
}

doorbell doorbell::share(int descriptor) {
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) throw error(errc::resource, "engine: cannot duplicate its doorbell");
  return doorbell(own);
}

doorbell::doorbell(doorbell&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

doorbell::~doorbell() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void doorbell::ring(int descriptor) noexcept {
  const std::uint64_t one = 1;
  // Fails only when the count would overflow: then the bell is rung already.
  [[maybe_unused]] const ssize_t written = ::write(descriptor, &one, sizeof one);
}

void doorbell::drain() const noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(descriptor_, &count, sizeof count);
}

void doorbell::sleep_on(int descriptor, std::optional<clock_time> timeout) noexcept {
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  if (!timeout) {
    ::ppoll(&entry, 1, nullptr, nullptr);
    return;
  }
  const clock_time left = std::max(*timeout, clock_time(0));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
  ::ppoll(&entry, 1, &limit, nullptr);
}

// ---- engine

namespace {

void check_usable(std::span<const int> processors) {
  for (const int processor : processors) {
    if (bound_for_now(processor)) continue;
    throw error(errc::invalid_argument, "engine: processors has " + std::to_string(processor) +
                                            "; expected those that this process may use");
  }
}

}  // namespace

engine::engine(engine_options options, doorbell bell)
    : has_own_thread_(options.progress == progress::thread),
      waiting_(options.waiting),
      bell_(std::move(bell)),
      sources_(std::move(options.sources)),
      wakeups_(bell_.descriptor(), sources_, options.more_sources),
      clock_(options.clock) {
  // The constructing thread is the usual caller, and makes frames before it drives anything.
  if (!has_own_thread_) frame_pool::adopt(pool_.get());
  if (has_own_thread_) {
    check_usable(options.processors);
    thread_ = std::jthread([this, processors = options.processors](std::stop_token stop) {
      run_thread(stop, processors);
    });
  }
}

engine::~engine() {
  stop();
  frame_pool::forget(pool_.get());
}

void engine::stop() {
  scope_.request_stop();
  // acquire: pairs with the release of operation_ended, whose frame must be gone by then.
  const auto all_ended = [this] { return running_.load(std::memory_order_acquire) == 0; };
  if (thread_.joinable()) {
    thread_.request_stop();
    ring();
    thread_.join();
  }
  // Nothing may go on instead of being stopped: its buffers may be gone.
  resume_interrupted_until([] { return false; });
  drive_until(all_ended);
}

clock_time engine::now() const noexcept {
  if (clock_ != nullptr) return clock_->now();
  return std::chrono::steady_clock::now().time_since_epoch();
}

void engine::link(waiter& entry, waiter_list& list) noexcept {
  list.push_back(entry);
  if (clock_ == nullptr || entry.scope_ == nullptr) return;
  if (const auto deadline = entry.scope_->deadline()) clock_->expect(*deadline);
}

void engine::resume(waiter& entry) {
  entry.withdraw();
  entry.resume_.resume();
}

// A resumed coroutine may link and unlink any waiter, so each is taken from the front and, if it
// stays, goes to the back. Those put in front meanwhile are of this round, those linked at the back
// are left for the next one.
template <class Ends>
bool engine::resume_each(waiter_list& list, Ends ends) {
  bool moved = false;
  for (std::size_t left = list.size(); left != 0 && !list.empty(); --left) {
    waiter& entry = *list.first();
    if (ends(entry)) {
      const std::size_t before = list.put_in_front();
      resume(entry);
      left += list.put_in_front() - before;
      moved = true;
    } else {
      list.move_to_back(entry);
    }
  }
  return moved;
}

bool engine::poll() {
  if (asleep_) wake();
  for (progress_source* const source : sources_) source->progress();
  // relaxed: resume_posted synchronises if there is something.
  const bool any_posted =
      to_resume_ != nullptr || posted_.load(std::memory_order_relaxed) != nullptr;
  bool moved = any_posted && resume_posted();
  if (resume_each(asked_, [](waiter& entry) { return entry.ready(); })) moved = true;
  // One operation that keeps moving must not keep another from noticing that it was stopped.
  constexpr unsigned busy_polls_between_checks = 4096;
  if (moved && ++busy_polls_ % busy_polls_between_checks == 0) resume_interrupted(false);
  return moved;
}

void engine::post(posted& entry) noexcept {
  entry.next = posted_.load(std::memory_order_relaxed);
  // release: the engine's thread sees the coroutine as it is now. Ringing unconditionally keeps
  // this free of a handshake with the sleeper; it is the path of `progress::thread` alone.
  while (!posted_.compare_exchange_weak(entry.next, &entry, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  ring();
}

bool engine::resume_posted() {
  posted* newest = posted_.exchange(nullptr, std::memory_order_acquire);
  posted* oldest = nullptr;
  while (newest != nullptr) {  // posts are resumed in the order they were made
    posted* older = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = older;
  }
  posted** end = &to_resume_;
  while (*end != nullptr) end = &(*end)->next;
  *end = oldest;
  const bool any = to_resume_ != nullptr;
  while (to_resume_ != nullptr) {
    posted& entry = *to_resume_;
    to_resume_ = entry.next;
    entry.resume.resume();
  }
  return any;
}

bool engine::resume_interrupted(bool thorough) {
  constexpr clock_time thorough_every = std::chrono::milliseconds(10);
  const clock_time time = now();
  thorough = thorough || time - last_thorough_ > thorough_every;
  if (thorough) last_thorough_ = time;
  bool moved =
      resume_each(asked_, [&](waiter& entry) { return entry.interrupted(time, thorough); });
  // There may be thousands. What only a thorough look finds, it finds for the one they are behind.
  // Under a clock of its own an engine may not look again before something happens to it.
  if (!thorough && clock_ == nullptr) return moved;
  const auto ends = [&](waiter& entry) { return entry.interrupted(time, false); };
  return resume_each(behind_others_, ends) || moved;
}

void engine::relax(idle_time& idle) {
  if (clock_ != nullptr) {
    throw error(errc::invalid_argument,
                "future::wait: called where time is virtual, which it would stop; expected "
                "co_await");
  }
  ++idle.polls;
  if (spins_on(idle)) return spin_pause();
  // The clock and the reasons to give up are looked at once in a while: most waits end before.
  constexpr unsigned yields_between_checks = 8;
  if (idle.polls % yields_between_checks == 0 || waiting_.yield_for == clock_time(0)) {
    const clock_time time = now();
    if (idle.since == clock_time(0)) idle.since = time;
    if (resume_interrupted(false)) {
      idle = {};
      return;
    }
    const clock_time waited = time - idle.since;
    const bool rests = waited >= patience() && waiting_.when_idle != idling::looks_on;
    if (rests && waiting_.when_idle == idling::sleeps) {
      if (most_sleep() != clock_time(0)) return sleep();
    } else if (rests) {
      idle.polls += yields_between_checks - 1;  // after one look the next nap
      return nap(waited);
    }
  }
  ++counters_.yields;
  ::sched_yield();
}

bool engine::spins_on(idle_time& idle) noexcept {
  constexpr unsigned looks_between_checks = 8;
  constexpr unsigned most_waits_without_spin = 256;
  if (spins_skipped_ != 0 || waiting_.spins == 0) return false;
  bool goes_on = idle.polls <= waiting_.spins;
  if (goes_on && idle.polls % looks_between_checks == 0) {
    const clock_time time = now();
    if (idle.since == clock_time(0)) idle.since = time;
    goes_on = time - idle.since < waiting_.spin_for;
  }
  if (goes_on) return true;
  // A spin in vain says that the peers are not running, perhaps because they share this core: it is
  // tried again only after a while, and after a longer one where that was in vain, too.
  spins_skipped_ = waits_without_spin_;
  waits_without_spin_ = std::min(2 * waits_without_spin_, most_waits_without_spin);
  return false;
}

clock_time engine::most_sleep() const noexcept {
  clock_time least = clock_time::max();
  for (const progress_source* const source : sources_)
    least = std::min(least, source->most_sleep());
  return least;
}

std::optional<clock_time> engine::sleep_limit() const {
  std::optional<clock_time> first;
  for_each_wait([&](const waiter& entry) {
    if (entry.scope() == nullptr) return;
    const std::optional<clock_time> one = entry.scope()->deadline();
    if (one && (!first || *one < *first)) first = one;
  });
  if (first) *first -= now();
  const clock_time most = most_sleep();
  if (most == clock_time::max()) return first;
  return first ? std::min(*first, most) : most;
}

std::string engine::describe_waits() const {
  std::string text;
  for_each_wait([&](const waiter& entry) { text += entry.describe() + "\n"; });
  return text;
}

void engine::add_source(progress_source& source) {
  sources_.reserve(sources_.size() + 1);
  wakeups_.add(source);
  sources_.push_back(&source);
}

namespace {

/// A coroutine that does something where it is resumed, and goes.
struct errand {
  struct promise_type {
    errand get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<> itself;
};

template <class Deed>
errand run_errand(Deed deed, std::atomic<bool>& done) {
  deed();
  // release: whoever waits sees what was done, and nothing of this is used any more.
  done.store(true, std::memory_order_release);
  co_return;
}

}  // namespace

void engine::remove_source(progress_source& source) noexcept {
  if (!thread_.joinable() || on_own_thread()) return forget_source(source);
  std::atomic<bool> done = false;
  posted entry;
  entry.resume = run_errand([&] { forget_source(source); }, done).itself;
  post(entry);
  while (!done.load(std::memory_order_acquire)) std::this_thread::yield();
}

void engine::forget_source(progress_source& source) noexcept {
  wakeups_.remove(source);
  std::erase(sources_, &source);
}

bool engine::anything_ready() noexcept {
  if (to_resume_ != nullptr || posted_.load(std::memory_order_acquire) != nullptr) return true;
  for (progress_source* const source : sources_) {
    if (source->progress()) return true;
  }
  for (waiter& entry : asked_) {
    if (entry.ready()) return true;
  }
  return false;
}

void engine::watch_and_arm() noexcept {
  for (waiter& entry : asked_) entry.watch();
  for (progress_source* source : sources_) source->arm();
}

bool engine::all_still_watch() const noexcept {
  for (const waiter& entry : asked_) {
    if (!entry.still_watches()) return false;
  }
  return true;
}

bool engine::prepare_to_sleep() {
  asleep_ = true;
  bool any_ready = false;
  do {
    watch_and_arm();
    any_ready = anything_ready();
  } while (!any_ready && !all_still_watch());
  if (!any_ready && !resume_interrupted(true)) return true;
  wake();
  return false;
}

void engine::wake() noexcept {
  asleep_ = false;
  for (progress_source* source : sources_) source->disarm();
  bell_.drain();
}

// Where system calls take long, as in an emulated machine, a sleep costs far more than elsewhere.
clock_time engine::patience() const noexcept {
  constexpr int sleeps = 4;         // whose cost may be looked away
  constexpr int times_longer = 10;  // than the policy says, at most
  return std::clamp(sleeps * sleep_cost_, waiting_.yield_for, times_longer * waiting_.yield_for);
}

void engine::sleep() {
  const clock_time began = now();
  clock_time slept(0);
  if (prepare_to_sleep()) {
    ++counters_.sleeps;
    const clock_time asleep = now();
    doorbell::sleep_on(wakeup_descriptor(), sleep_limit());
    slept = now() - asleep;
    wake();
  }
  const clock_time cost = now() - began - slept;
  sleep_cost_ += (cost - sleep_cost_) / 8;
}

void engine::nap(clock_time waited) {
  using namespace std::chrono_literals;
  ++counters_.sleeps;
  std::this_thread::sleep_for(std::clamp<clock_time>(waited / 4, 50us, 250us));
}

void engine::run_thread(std::stop_token stop, std::span<const int> processors) {
  if (!processors.empty()) bind_to(processors);
  run_in_short_slices();
  drive_until([&stop] { return stop.stop_requested(); });
}

}  // namespace muster
