#include <muster/progress/scope.hpp>

#include <coroutine>

#include <muster/progress/waiter.hpp>

namespace muster {

/// Waits until nothing is pending.
class scope::end_wait final : public waiter {
public:
  explicit end_wait(muster::scope& on) noexcept : on_(on) {}

  bool ready() noexcept override { return on_.size() == 0; }
  std::string describe() const override {
    return "the end of " + std::to_string(on_.size()) + " operations of a scope";
  }
  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(on_.engine_, self);
  }
  void await_resume() { rethrow_interruption(); }

private:
  muster::scope& on_;
};

scope::~scope() {
  if (size() == 0) return;
  request_stop();
  if (engine_.has_own_thread() && !engine_.on_own_thread()) {
    for (std::size_t left = size(); left != 0; left = size()) pending_.wait(left);
    return;
  }
  const auto all_ended = [this] { return size() == 0; };
  engine_.resume_interrupted_until(all_ended);
  engine_.drive_until(all_ended);
}

task<> scope::join() {
  co_await end_wait(*this);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace muster
