#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/progress/waiter.hpp>

#include "tests/support/says.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::testing {

/// Awaited: until the condition holds.
class until final : public waiter {
public:
  explicit until(std::function<bool()> condition) : condition_(std::move(condition)) {}
  bool ready() noexcept override { return condition_(); }
  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(*self.promise().place.where, self);
  }
  void await_resume() { rethrow_interruption(); }

private:
  std::function<bool()> condition_;
};

/// A model in which nothing costs anything but what a test sets.
sim::model free_model();

/// When each rank's program ended, in nanoseconds. \throws what a program threw
std::vector<double> run(const sim::model& of, sim::options how,
                        const sim::simulation::program& each);

/// The error that each rank's program ended with, if any; others are thrown.
std::vector<std::optional<error>> failures(sim::simulation& over);

}  // namespace muster::testing
