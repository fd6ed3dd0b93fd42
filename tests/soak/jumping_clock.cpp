#include "tests/soak/jumping_clock.hpp"

#include <dlfcn.h>
#include <time.h>

#include <atomic>

namespace muster::testing {
namespace {

std::atomic<time_t>& ahead() noexcept {
  static std::atomic<time_t> seconds{0};
  return seconds;
}

}  // namespace

void set_wall_clock(std::chrono::seconds by) noexcept { ahead() = by.count(); }

}  // namespace muster::testing

/// In place of the system's, for the whole process.
extern "C" int clock_gettime(clockid_t which, timespec* now) noexcept {
  using function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const int status = real(which, now);
  if (status == 0 && which == CLOCK_REALTIME) now->tv_sec += muster::testing::ahead();
  return status;
}
