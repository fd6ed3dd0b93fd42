#pragma once

#include <sched.h>

#include <atomic>

namespace muster::mpi {

/// Those who use something on threads of which whoever takes it away knows nothing.
template <class Host>
class guests {
public:
  /// Calls `visit(host)` if there still is one, which then stays until it returns.
  template <class Visit>
  void visit(const std::atomic<Host*>& at, Visit visit) noexcept {
    // seq_cst, with `dismiss`: each first says what it does, then looks at what the other said, so
    // that one of the two sees the other.
    inside_.fetch_add(1, std::memory_order_seq_cst);
    if (Host* const host = at.load(std::memory_order_seq_cst)) visit(*host);
    // release: the visit comes before whatever follows `dismiss`.
    inside_.fetch_sub(1, std::memory_order_release);
  }

  /// Takes the host away and waits for those who are with it. Null if there is none.
  Host* dismiss(std::atomic<Host*>& from) noexcept {
    Host* const host = from.exchange(nullptr, std::memory_order_seq_cst);
    // seq_cst: see `visit`; it also acquires what the last of them did.
    while (host != nullptr && inside_.load(std::memory_order_seq_cst) != 0) ::sched_yield();
    return host;
  }

private:
  std::atomic<unsigned> inside_{0};
};

}  // namespace muster::mpi
