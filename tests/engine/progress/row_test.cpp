// Waiters of which each waits behind the one before it, and is asked once that one has gone.

#include <doctest/doctest.h>

#include <coroutine>
#include <cstddef>
#include <stop_token>
#include <utility>
#include <vector>

#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>
#include <muster/progress/waiter.hpp>
#include <muster/progress/within.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/gate.hpp"

namespace muster::testing {
namespace {

class waiter_in_row;

/// Those that wait, in order.
struct row {
  std::vector<waiter_in_row*> all;
  std::size_t gone = 0;
};

class waiter_in_row final : public waiter {
public:
  waiter_in_row(row& in, const gate& at) noexcept : in_(in), at_(at) {}
  ~waiter_in_row() {
    if (++in_.gone < in_.all.size()) in_.all[in_.gone]->be_asked(*where_);
  }
  bool ready() noexcept override { return at_.is_open(); }
  bool await_ready() noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    const coroutine_place& place = self.promise().place;
    where_ = place.where;
    const bool is_first = in_.all.empty();
    in_.all.push_back(this);
    if (is_first) return suspend(place, self);
    suspend_behind_another(place, self);
  }
  void await_resume() { rethrow_interruption(); }

private:
  row& in_;
  const gate& at_;
  engine* where_ = nullptr;
};

/// Counts those who have gone on, for whatever reason.
struct going_on {
  std::size_t& count;
  ~going_on() { ++count; }
};

task<> pass(row& in, const gate& at, std::size_t& count) {
  const going_on one{count};
  co_await waiter_in_row(in, at);
}
task<> pass(const gate& at, std::size_t& count) {
  const going_on one{count};
  co_await at.passed();
}

constexpr std::size_t length = 10;

TEST_CASE("one look finds all of a row, and who waits beside it") {
  engine here({.progress = progress::external});
  row one;
  gate at;
  std::size_t gone_on = 0;
  std::vector<future<>> all;
  for (std::size_t i = 0; i < length; ++i) all.push_back(start(here, pass(one, at, gone_on)));
  all.push_back(start(here, pass(at, gone_on)));
  here.poll();
  CHECK(gone_on == 0);
  at.open();
  here.poll();
  CHECK(gone_on == length + 1);
  for (future<>& each : all) each.wait();
}

TEST_CASE("one look for reasons to end ends all of a row, and who waits beside it") {
  engine here({.progress = progress::external});
  row one;
  const gate closed;
  std::size_t gone_on = 0;
  std::stop_source source;
  std::vector<future<>> all;
  const auto begin = [&](task<> what) {
    all.push_back(start(here, with_stop(source.get_token(), std::move(what))));
  };
  for (std::size_t i = 0; i < length; ++i) begin(pass(one, closed, gone_on));
  begin(pass(closed, gone_on));
  here.poll();
  source.request_stop();
  here.resume_interrupted(true);
  CHECK(gone_on == length + 1);
  for (future<>& each : all) {
    const auto why = failure_of([&] { each.wait(); });
    REQUIRE(why);
    CHECK(why->code() == errc::stopped);
  }
}

}  // namespace
}  // namespace muster::testing
