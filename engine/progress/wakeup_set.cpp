#include <muster/progress/wakeup_set.hpp>

#include <sys/epoll.h>

#include <algorithm>

#include <muster/base/error.hpp>

namespace muster {
namespace {

bool has_own(const progress_source* one) { return one->descriptor() >= 0; }

void watch(const descriptor& all, int one) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = one}};
  if (::epoll_ctl(all.get(), EPOLL_CTL_ADD, one, &event) == 0) return;
  throw error(errc::resource, "engine: cannot wait for a source's descriptor");
}

}  // namespace

wakeup_set::wakeup_set(int bell, std::span<progress_source* const> sources, bool more)
    : bell_(bell) {
  if (!more && std::ranges::none_of(sources, has_own)) return;
  all_ = muster::descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!all_) throw error(errc::resource, "engine: cannot make an epoll descriptor");
  if (bell >= 0) watch(all_, bell);
  for (const progress_source* each : sources) add(*each);
}

void wakeup_set::add(const progress_source& one) {
  if (has_own(&one)) watch(all_, one.descriptor());
}

void wakeup_set::remove(const progress_source& one) noexcept {
  if (has_own(&one)) ::epoll_ctl(all_.get(), EPOLL_CTL_DEL, one.descriptor(), nullptr);
}

}  // namespace muster
