#include "transports/shm/stop_watch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <sstream>

#include <muster/base/process_status.hpp>
#include <muster/wire/membership.hpp>

namespace muster::shm {

bool is_stopped(const job& of, std::size_t rank) noexcept {
  // relaxed: nothing else is read by it.
  const std::int32_t process = of.line(rank).process.load(std::memory_order_relaxed);
  return process != 0 && process_status(process).state() == 'T';
}

std::chrono::milliseconds stop_watch::between_looks(std::chrono::milliseconds limit) noexcept {
  constexpr std::chrono::milliseconds shortest(10);
  constexpr std::chrono::milliseconds longest(500);
  return limit.count() == 0 ? longest : std::clamp(limit / 8, shortest, longest);
}

bool stop_watch::is_over(clock::time_point now) noexcept {
  if (limit_.count() == 0) return false;
  // Whoever looks may have been stopped itself, and so may those that waited.
  const bool is_late = now - last_look_ > 4 * between_looks(limit_);
  last_look_ = now;
  if (!is_stopped_and_awaited()) {
    since_.reset();
    return false;
  }
  if (!since_ || is_late) since_ = now;
  return now - *since_ >= limit_;
}

std::string stop_watch::text() const {
  std::ostringstream text;
  text << "has been stopped for " << std::chrono::duration<double>(limit_).count() << " s";
  return text.str();
}

bool stop_watch::is_stopped_and_awaited() const noexcept {
  // The system is asked last: most ranks are waited for by nobody.
  return job_.state(rank_) == wire::liveness::alive && is_awaited() && is_stopped(job_, rank_);
}

bool stop_watch::is_awaited() const noexcept {
  if (job_.is_missed(rank_)) return true;
  for (std::size_t other = 0; other < job_.size(); ++other) {
    if (is_awaited_by(other)) return true;
  }
  return false;
}

// Somebody that sleeps until this rank announces something.
bool stop_watch::is_awaited_by(std::size_t other) const noexcept {
  // relaxed: what is seen is looked at again, for as long as the limit.
  const std::uint64_t watchers =
      job_.watchers_of(rank_)[other / 64].load(std::memory_order_relaxed);
  if ((watchers >> other % 64 & 1) == 0 || other == rank_) return false;
  if (job_.line(other).parked.load(std::memory_order_relaxed) == 0) return false;
  return job_.state(other) == wire::liveness::alive && !is_stopped(job_, other);
}

}  // namespace muster::shm
