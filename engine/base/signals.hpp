#pragma once

#include <pthread.h>
#include <signal.h>

namespace muster {

/// Blocks all signals of the calling thread while it lives. A thread begun meanwhile blocks them
/// for good: a program's handlers run in the program's own threads.
class all_signals_blocked {
public:
  all_signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~all_signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;

private:
  sigset_t before_;
};

}  // namespace muster
