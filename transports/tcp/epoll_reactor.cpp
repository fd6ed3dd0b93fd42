#include "transports/tcp/epoll_reactor.hpp"

#include <sys/epoll.h>

#include <array>

#include <muster/base/error.hpp>
#include <muster/progress/ticks.hpp>

namespace muster::tcp {

epoll_reactor::epoll_reactor() : events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!events_) throw error(errc::resource, "tcp: no epoll descriptor");
}

std::uint32_t epoll_reactor::add(int descriptor, std::uint64_t what, interest in) noexcept {
  constexpr std::uint32_t all_changes = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  epoll_event event{};
  event.events = in == interest::incoming ? std::uint32_t{EPOLLIN} : all_changes;
  event.data.u64 = what;
  ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event);
  return static_cast<std::uint32_t>(descriptor);
}

void epoll_reactor::remove(std::uint32_t watch) noexcept {
  ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, static_cast<int>(watch), nullptr);
}

// Asking the system takes longer than all else in a poll. Where nothing has come for long it is
// asked by the time, for polls may be some ten nanoseconds apart, or a yield.
bool epoll_reactor::is_due() noexcept {
  constexpr unsigned often = 256;
  constexpr std::uint64_t apart = 1000;  // ticks: less than half a microsecond
  const std::uint64_t now = count_ticks();
  if (++polls_ >= often && now - last_look_ < apart) return false;
  last_look_ = now;
  return true;
}

void epoll_reactor::look(handler& who) noexcept {
  if (!is_due()) return;
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(events_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    polls_ = 0;
    const epoll_event& each = events[static_cast<std::size_t>(i)];
    who.note(each.data.u64, (each.events & ~std::uint32_t{EPOLLOUT}) != 0,
             (each.events & EPOLLOUT) != 0,
             // Not EPOLLERR: it also tells of reports, and a failed connection has hung up as well.
             (each.events & (EPOLLRDHUP | EPOLLHUP)) != 0);
  }
}

}  // namespace muster::tcp
