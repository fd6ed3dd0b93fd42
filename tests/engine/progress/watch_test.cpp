// Whom a wait asks to wake its engine.

#include <doctest/doctest.h>

#include <array>
#include <coroutine>

#include <muster/muster.hpp>

#include "tests/harness/gate.hpp"

namespace muster::testing {
namespace {

/// Waits for two gates and asks the first that is closed to wake it; gates of `opening` open when
/// they are asked, too late for a ring.
class both final : public waiter {
public:
  both(std::array<gate, 2>& gates, std::size_t opening) noexcept
      : gates_(gates), opening_(opening) {}

  bool ready() noexcept override { return first_closed() == gates_.size(); }
  void watch() noexcept override {
    asked = first_closed();
    if (asked < opening_) gates_[asked].open();
  }
  bool still_watches() const noexcept override { return asked == first_closed(); }

  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(*self.promise().place.where, self);
  }
  void await_resume() { rethrow_interruption(); }

  std::size_t asked = 2;

private:
  std::size_t first_closed() const noexcept {
    std::size_t i = 0;
    while (i < gates_.size() && gates_[i].is_open()) ++i;
    return i;
  }

  std::array<gate, 2>& gates_;
  std::size_t opening_;
};

task<> pass(both& wait) { co_await wait; }

TEST_CASE("the first that is missing is asked") {
  std::array<gate, 2> gates;
  both wait(gates, 0);
  engine here({.progress = progress::external});
  const future<> work = start(here, pass(wait));
  CHECK(here.prepare_to_sleep());
  CHECK(wait.asked == 0);
  for (gate& each : gates) each.open();
  CHECK(here.poll());
}

TEST_CASE("when it comes just then, the next one is asked before the engine sleeps") {
  std::array<gate, 2> gates;
  both wait(gates, 1);
  engine here({.progress = progress::external});
  const future<> work = start(here, pass(wait));
  CHECK(here.prepare_to_sleep());
  CHECK(wait.asked == 1);
  gates[1].open();
  CHECK(here.poll());
}

TEST_CASE("when all come just then, the engine does not sleep") {
  std::array<gate, 2> gates;
  both wait(gates, 2);
  engine here({.progress = progress::external});
  const future<> work = start(here, pass(wait));
  CHECK_FALSE(here.prepare_to_sleep());
  CHECK(here.poll());
}

}  // namespace
}  // namespace muster::testing
