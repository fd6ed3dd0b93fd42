#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace muster::asio {

/// Runs functions one at a time, in the order in which they come. Nobody waits: what comes while
/// one runs is run by the thread that runs that one, afterwards. What a function brings itself runs
/// at once.
class one_at_a_time {
public:
  /// Runs `act`, or leaves it to the thread that is there.
  template <class Act>
  void run(Act act) {
    if (is_here()) return act();
    if (!enter()) {
      const std::scoped_lock alone(mutex_);
      if (!enter()) {
        waiting_.push_back(std::make_unique<waiting_act<Act>>(std::move(act)));
        return;
      }
    }
    const leaving at_end(*this);
    act();
  }

  /// Runs `act` if nobody is there, and says whether it did.
  template <class Act>
  bool try_run(Act act) {
    if (is_here()) {
      act();
      return true;
    }
    if (!enter()) return false;
    const leaving at_end(*this);
    act();
    return true;
  }

private:
  struct waiting_base {
    virtual ~waiting_base() = default;
    virtual void run() = 0;
  };
  template <class Act>
  struct waiting_act final : waiting_base {
    explicit waiting_act(Act of) : act(std::move(of)) {}
    void run() override { act(); }
    Act act;
  };
  /// Runs what waits, and leaves, also where something is thrown.
  class leaving {
  public:
    explicit leaving(one_at_a_time& of) noexcept : of_(of) {}
    ~leaving() { of_.leave(); }
    leaving(const leaving&) = delete;
    leaving& operator=(const leaving&) = delete;

  private:
    one_at_a_time& of_;
  };

  // relaxed: a thread finds its own number only where it has written it itself.
  bool is_here() const noexcept {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  bool enter() noexcept {
    // acquire: what the last one that was here has done.
    if (is_taken_.exchange(true, std::memory_order_acquire)) return false;
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return true;
  }
  /// None of the functions throws: who brought them is not here.
  void leave() noexcept {
    while (true) {
      std::unique_ptr<waiting_base> next;
      {
        const std::scoped_lock alone(mutex_);
        if (waiting_.empty()) {
          owner_.store(std::thread::id(), std::memory_order_relaxed);
          // release: what was done here. In the lock: nobody has come to wait meanwhile.
          is_taken_.store(false, std::memory_order_release);
          return;
        }
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      next->run();
    }
  }

  std::atomic<bool> is_taken_{false};
  std::atomic<std::thread::id> owner_{};
  std::mutex mutex_;
  std::deque<std::unique_ptr<waiting_base>> waiting_;
};

}  // namespace muster::asio
