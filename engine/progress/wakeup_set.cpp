#include <muster/progress/wakeup_set.hpp>

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

#include <muster/base/error.hpp>

namespace muster {
namespace {

void add(int all, int one) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = one}};
  if (::epoll_ctl(all, EPOLL_CTL_ADD, one, &event) == 0) return;
  ::close(all);
  throw error(errc::resource, "engine: cannot wait for a source's descriptor");
}

}  // namespace

wakeup_set::wakeup_set(int bell, std::span<progress_source* const> sources) : bell_(bell) {
  const auto has_own = [](const progress_source* one) { return one->descriptor() >= 0; };
  if (std::ranges::none_of(sources, has_own)) return;
  const int all = ::epoll_create1(EPOLL_CLOEXEC);
  if (all < 0) throw error(errc::resource, "engine: cannot make an epoll descriptor");
  if (bell >= 0) add(all, bell);
  for (const progress_source* each : sources) {
    if (has_own(each)) add(all, each->descriptor());
  }
  all_ = all;
}

wakeup_set::~wakeup_set() {
  if (all_ >= 0) ::close(all_);
}

}  // namespace muster
