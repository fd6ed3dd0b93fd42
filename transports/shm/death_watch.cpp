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

#include "transports/shm/stop_watch.hpp"

namespace muster::shm {
namespace {

constexpr std::string_view ended = "ended without leaving the job";

}  // namespace

death_watch::death_watch(const job& of, std::size_t self, std::vector<std::size_t> ranks,
                         std::chrono::milliseconds stop)
    : job_(of),
      self_(self),
      ranks_(std::move(ranks)),
      stop_(stop),
      over_(::eventfd(0, EFD_CLOEXEC)) {
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
    note_loss(next(apart), ended);
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
  const auto between_looks_ms = static_cast<int>(stop_watch::between_looks(stop_).count());
  stop_watch stop(job_, rank, stop_);
  while (!has_left(rank)) {
    if (!watched) watched = open_process(rank);
    if (!watched && errno != EMFILE && errno != ENFILE && errno != ENOMEM) return errno == ESRCH;
    either[0].fd = watched.get();  // poll passes over none
    const int ready = ::poll(either.data(), either.size(), between_looks_ms);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0) return (either[1].revents & POLLIN) == 0;
    if (stop.is_over()) note_loss(rank, stop.text());
    watch_for(rank);
  }
  return true;
}

void death_watch::watch_for(std::size_t stopped) const noexcept {
  std::size_t rank = stopped;
  while (rank != self_ && (has_left(rank) || is_stopped(job_, rank))) {
    rank = (rank + 1) % job_.size();
    if (rank != self_ && has_ended(rank)) note_loss(rank, ended);
  }
}

bool death_watch::has_ended(std::size_t rank) const noexcept {
  const descriptor process = open_process(rank);
  if (!process) return errno == ESRCH;
  pollfd its_end = {.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&its_end, 1, 0) == 1;
}

bool death_watch::has_left(std::size_t rank) const noexcept {
  return job_.state(rank) != wire::liveness::alive;
}

void death_watch::note_loss(std::size_t rank, std::string_view how) const noexcept {
  if (has_left(rank)) return;
  job_.fail({.code = errc::rank_died,
             .rank = ranks_[rank],
             .text = "rank " + std::to_string(ranks_[rank]) + " (process " +
                     std::to_string(job_.line(rank).process.load(std::memory_order_relaxed)) +
                     ") " + std::string(how)});
  job_.set_state(rank, wire::liveness::died);
}

}  // namespace muster::shm
