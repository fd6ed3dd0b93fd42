// Engines that poll sources of progress and sleep on their descriptors.

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include <muster/muster.hpp>

#include "tests/harness/gate.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

/// Opens a gate once others have written to its descriptor, as a socket's owner would.
class mail final : public progress_source {
public:
  explicit mail(gate& opens) : opens_(opens), descriptor_(::eventfd(0, EFD_NONBLOCK)) {
    REQUIRE(descriptor_ >= 0);
  }
  ~mail() { ::close(descriptor_); }
  mail(const mail&) = delete;
  mail& operator=(const mail&) = delete;

  /// From any thread.
  void come() const {
    const std::uint64_t one = 1;
    CHECK(::write(descriptor_, &one, sizeof one) == sizeof one);
  }

  bool progress() noexcept override {
    std::uint64_t count = 0;
    if (::read(descriptor_, &count, sizeof count) != sizeof count) return false;
    opens_.open();
    return true;
  }
  int descriptor() const noexcept override { return descriptor_; }
  void arm() noexcept override { ++armed; }
  void disarm() noexcept override { ++disarmed; }

  int armed = 0;
  int disarmed = 0;

private:
  gate& opens_;
  int descriptor_;
};

task<> pass(const gate& at) { co_await at.passed(); }

TEST_CASE("an engine sleeps on the descriptor of its source") {
  const watchdog alive("source: sleep");
  gate at;
  mail source(at);
  engine here({.waiting = waiting_policy::asleep(), .sources = {&source}});
  const std::jthread sender([&source] {
    std::this_thread::sleep_for(20ms);
    source.come();
  });
  start(here, pass(at)).wait();
  CHECK(here.counted().sleeps > 0);
  CHECK(source.armed > 0);
  CHECK(source.armed == source.disarmed);
}

TEST_CASE("what has come before the sleep prevents it") {
  gate at;
  mail source(at);
  engine here({.progress = progress::external, .sources = {&source}});
  future<> work = start(here, pass(at));
  source.come();
  CHECK_FALSE(here.prepare_to_sleep());
  CHECK(here.poll());
  CHECK(work.ready());
}

TEST_CASE("a source that is added wakes the engine, until it is removed") {
  const watchdog alive("source: added");
  engine here({.progress = progress::external, .more_sources = true});
  const int descriptor = here.wakeup_descriptor();
  gate at;
  mail source(at);
  here.add_source(source);
  CHECK(here.wakeup_descriptor() == descriptor);
  future<> work = start(here, pass(at));
  REQUIRE(here.prepare_to_sleep());
  pollfd entry{.fd = descriptor, .events = POLLIN, .revents = 0};
  CHECK(::poll(&entry, 1, 0) == 0);
  source.come();
  CHECK(::poll(&entry, 1, 0) == 1);
  CHECK(here.poll());
  CHECK(work.ready());
  CHECK(source.armed == source.disarmed);

  here.remove_source(source);
  const int armed = source.armed;
  source.come();
  CHECK(here.prepare_to_sleep());
  CHECK(::poll(&entry, 1, 0) == 0);
  CHECK(source.armed == armed);
}

/// Opens a gate once it was armed, or after a while before that, and is slow to be armed.
class slow_to_arm final : public progress_source {
public:
  slow_to_arm() : descriptor_(::eventfd(0, EFD_NONBLOCK)) { REQUIRE(descriptor_ >= 0); }
  ~slow_to_arm() { ::close(descriptor_); }
  slow_to_arm(const slow_to_arm&) = delete;
  slow_to_arm& operator=(const slow_to_arm&) = delete;

  void open_after(gate& one, std::chrono::nanoseconds time) {
    open_once_armed(one);
    opens_ = std::chrono::steady_clock::now() + time;
  }
  void open_once_armed(gate& one) {
    next_ = &one;
    opens_ = std::chrono::steady_clock::time_point::max();
  }

  bool progress() noexcept override {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(descriptor_, &count, sizeof count);
    if (next_ == nullptr || std::chrono::steady_clock::now() < opens_) return false;
    std::exchange(next_, nullptr)->open();
    return true;
  }
  int descriptor() const noexcept override { return descriptor_; }
  void arm() noexcept override {
    ++armed;
    armed_at = std::chrono::steady_clock::now();
    const auto end = armed_at + 1ms;
    while (std::chrono::steady_clock::now() < end) {
    }
    const std::uint64_t one = 1;  // whoever sleeps wakes, and looks
    [[maybe_unused]] const ssize_t written = ::write(descriptor_, &one, sizeof one);
    opens_ = {};
  }
  void disarm() noexcept override {}

  int armed = 0;
  std::chrono::steady_clock::time_point armed_at;

private:
  int descriptor_;
  gate* next_ = nullptr;
  std::chrono::steady_clock::time_point opens_;
};

/// How long an engine that knows nothing of its sleeps looks before the first, which is also a
/// matter of how long a look takes.
std::chrono::nanoseconds looks_before_first_sleep() {
  slow_to_arm source;
  engine here({.waiting = waiting_policy::core_of_its_own(), .sources = {&source}});
  gate at;
  source.open_once_armed(at);
  const auto began = std::chrono::steady_clock::now();
  start(here, pass(at)).wait();
  return source.armed_at - began;
}

TEST_CASE("an engine goes on looking where sleeps have turned out to be dear") {
  const watchdog alive("source: dear sleeps");
  auto looks = looks_before_first_sleep();
  for (int i = 0; i < 9; ++i) looks = std::min(looks, looks_before_first_sleep());
  slow_to_arm source;
  engine here({.waiting = waiting_policy::core_of_its_own(), .sources = {&source}});
  gate first;
  source.open_once_armed(first);
  start(here, pass(first)).wait();
  CHECK(source.armed > 0);
  bool armed_each_time = true;
  for (int i = 0; i < 100 && armed_each_time; ++i) {
    const int before = source.armed;
    gate at;
    source.open_after(at, looks + 300us);
    start(here, pass(at)).wait();
    armed_each_time = source.armed > before;
  }
  CHECK_FALSE(armed_each_time);
}

/// Opens a gate a while after it was made, of which nobody tells.
class silent final : public progress_source {
public:
  silent(gate& opens, clock_time most) : opens_(opens), most_(most) {}
  bool progress() noexcept override {
    if (has_come_ || std::chrono::steady_clock::now() < comes_) return false;
    opens_.open();
    return has_come_ = true;
  }
  int descriptor() const noexcept override { return -1; }
  void arm() noexcept override {}
  void disarm() noexcept override {}
  clock_time most_sleep() const noexcept override { return most_; }

private:
  gate& opens_;
  clock_time most_;
  bool has_come_ = false;
  std::chrono::steady_clock::time_point comes_ = std::chrono::steady_clock::now() + 20ms;
};

TEST_CASE("an engine does not sleep where nobody tells what comes") {
  const watchdog alive("source: nobody tells");
  gate at;
  silent source(at, 0ns);
  engine here({.waiting = waiting_policy::asleep(), .sources = {&source}});
  CHECK(here.sleep_limit() == clock_time(0));
  start(here, pass(at)).wait();
  CHECK(here.counted().sleeps == 0);
}

TEST_CASE("or it sleeps for as long as that may wait") {
  const watchdog alive("source: for a while");
  gate at;
  silent source(at, 1ms);
  engine here({.waiting = waiting_policy::asleep(), .sources = {&source}});
  start(here, pass(at)).wait();
  CHECK(here.counted().sleeps > 0);
}

/// Opens gates after some looks, each as long as a system call or longer.
class slow_to_look final : public progress_source {
public:
  void open_after(gate& one, unsigned looks) {
    next_ = &one;
    looks_left_ = looks;
  }
  bool progress() noexcept override {
    if (next_ == nullptr) return false;
    const auto until = std::chrono::steady_clock::now() + 5us;
    while (std::chrono::steady_clock::now() < until) {
    }
    if (--looks_left_ != 0) return false;
    std::exchange(next_, nullptr)->open();
    return true;
  }
  int descriptor() const noexcept override { return -1; }
  void arm() noexcept override {}
  void disarm() noexcept override {}
  clock_time most_sleep() const noexcept override { return 0ns; }

private:
  gate* next_ = nullptr;
  unsigned looks_left_ = 0;
};

TEST_CASE("an engine spins only for a while where looks take long, and not at the next waits") {
  const watchdog alive("source: long looks");
  slow_to_look source;
  engine here({.waiting = waiting_policy::core_of_its_own(), .sources = {&source}});
  gate first;
  source.open_after(first, waiting_policy::core_of_its_own().spins);
  start(here, pass(first)).wait();
  const std::uint64_t yields = here.counted().yields;
  CHECK(yields > 0);
  gate second;
  source.open_after(second, 4);
  start(here, pass(second)).wait();
  CHECK(here.counted().yields > yields);
}

TEST_CASE("one descriptor stands for the bell and all sources") {
  gate first;
  gate second;
  mail one(first);
  mail other(second);
  engine here({.progress = progress::external, .sources = {&one, &other}});
  const auto is_readable = [&here] {
    pollfd entry{.fd = here.wakeup_descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, 0) == 1;
  };
  REQUIRE(here.prepare_to_sleep());
  CHECK_FALSE(is_readable());
  here.ring();
  CHECK(is_readable());
  here.poll();
  CHECK_FALSE(is_readable());
  for (const mail* each : {&one, &other}) {
    each->come();
    CHECK(is_readable());
    here.poll();
    CHECK_FALSE(is_readable());
  }
}

}  // namespace
}  // namespace muster::testing
