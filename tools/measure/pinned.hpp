#pragma once

#include <sched.h>

namespace muster::measure {

/// Binds the calling thread to one processor, until it goes.
class pinned {
public:
  explicit pinned(int cpu) noexcept {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(cpu), &only);
    ::sched_setaffinity(0, sizeof only, &only);
  }
  ~pinned() { ::sched_setaffinity(0, sizeof before_, &before_); }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

private:
  cpu_set_t before_{};
};

}  // namespace muster::measure
