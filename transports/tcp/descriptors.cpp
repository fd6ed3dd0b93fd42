#include "transports/tcp/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace muster::tcp {
namespace {

std::size_t open_descriptors() noexcept {
  std::error_code unreadable;
  const std::filesystem::directory_iterator all("/proc/self/fd", unreadable);
  return unreadable ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

void allow_descriptors(std::size_t more) noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  const rlim_t needed = open_descriptors() + more;
  if (needed <= now.rlim_cur) return;
  now.rlim_cur = std::min(needed, now.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &now);
}

std::size_t allowed_descriptors() noexcept {
  rlimit now{};
  return ::getrlimit(RLIMIT_NOFILE, &now) == 0 ? now.rlim_cur : 0;
}

bool is_out_of_descriptors(int why) noexcept { return why == EMFILE || why == ENFILE; }

std::string describe_shortage(int why, const std::string& expected) {
  return std::string(std::strerror(why)) + ": " + std::to_string(allowed_descriptors()) +
         " are allowed (ulimit -n); expected " + expected;
}

}  // namespace muster::tcp
