#include "transports/shm/death_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/base/signals.hpp>

namespace muster::shm {

death_watch::death_watch(const job& of, std::size_t self, std::vector<std::size_t> ranks)
    : job_(of), self_(self), ranks_(std::move(ranks)), over_(::eventfd(0, EFD_CLOEXEC)) {
  if (!over_) throw error(errc::resource, "death watch: no eventfd");
  // Before the program goes on, which may leave no descriptor.
  descriptor first = job_.size() > 1 ? open_process(next(1)) : descriptor();
  const all_signals_blocked meanwhile;  // they are for the program's own threads
  thread_ = std::jthread([this, first = std::move(first)]() mutable { run(std::move(first)); });
}

death_watch::~death_watch() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(over_.get(), &one, sizeof one);
}

void death_watch::run(descriptor watched) const noexcept {
  for (std::size_t apart = 1; apart < job_.size(); ++apart) {
    if (!outlives(next(apart), std::exchange(watched, {}))) return;
    note_end(next(apart));
  }
}

descriptor death_watch::open_process(std::size_t rank) const noexcept {
  // relaxed: it joined before this rank began.
  const auto process = job_.line(rank).process.load(std::memory_order_relaxed);
  return descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

bool death_watch::outlives(std::size_t rank, descriptor watched) const noexcept {
  std::array<pollfd, 2> either = {{{.fd = -1, .events = POLLIN, .revents = 0},
                                   {.fd = over_.get(), .events = POLLIN, .revents = 0}}};
  // One that has left may go on for long without watching those after it. And the program may have
  // no descriptor left for a while.
  constexpr int between_looks_ms = 500;
  while (!has_left(rank)) {
    if (!watched) watched = open_process(rank);
    if (!watched && errno != EMFILE && errno != ENFILE && errno != ENOMEM) return errno == ESRCH;
    either[0].fd = watched.get();  // poll passes over none
    const int ready = ::poll(either.data(), either.size(), between_looks_ms);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0) return (either[1].revents & POLLIN) == 0;
  }
  return true;
}

bool death_watch::has_left(std::size_t rank) const noexcept {
  // acquire: pairs with `job::set_state`.
  const auto state = job_.line(rank).state.load(std::memory_order_acquire);
  return static_cast<wire::liveness>(state) != wire::liveness::alive;
}

void death_watch::note_end(std::size_t rank) const noexcept {
  if (has_left(rank)) return;
  job_.fail({.code = errc::rank_died,
             .rank = ranks_[rank],
             .text = "rank " + std::to_string(ranks_[rank]) + " (process " +
                     std::to_string(job_.line(rank).process.load(std::memory_order_relaxed)) +
                     ") ended without leaving the job"});
  job_.set_state(rank, wire::liveness::died);
}

}  // namespace muster::shm
