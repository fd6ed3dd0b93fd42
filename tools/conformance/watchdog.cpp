#include "tools/conformance/watchdog.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace muster::testing {

watchdog::watchdog(std::string what, std::chrono::seconds limit, std::string replay)
    : what_(std::move(what)),
      replay_(std::move(replay)),
      thread_([this, limit] { watch(limit); }) {}

watchdog::~watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void watchdog::watch(std::chrono::seconds limit) {
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, limit, [this] { return over_; })) return;
  std::fprintf(stderr, "HANGS for %lld s: %s; %s\n", static_cast<long long>(limit.count()),
               what_.c_str(), replay_.c_str());
  std::abort();
}

}  // namespace muster::testing
