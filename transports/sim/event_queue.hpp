#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/sim/clock.hpp"

namespace muster::sim {

/// What happens, and to whom; `subject` and `value` are the kind's own.
struct event {
  enum class kind : std::uint32_t {
    run,             ///< a rank begins, or looks at what it waits for
    turn,            ///< a shared core turns to its next rank
    work_done,       ///< a rank's local work
    store,           ///< a flag becomes visible in its node
    transmit,        ///< a message begins to leave its node
    reach,           ///< a message's first byte reaches the node it is for
    deliver,         ///< a message has arrived
    left,            ///< a message has left its sender's memory
    credit,          ///< a channel's sender learns of room
    deadline,        ///< some wait of a rank is to end
    die,             ///< a rank
    notice_death,    ///< the others learn of a rank's
    die_with_host,   ///< a rank, of which nobody is told
    stop,            ///< a rank, until a time
    lose,            ///< a rank another one, of which it has not heard
    tell,            ///< news of a failure leave their node
    told,            ///< they reach another one
    notice_failure,  ///< the ranks of a node learn of a failure
  };
  picoseconds when;
  std::uint64_t order;  ///< among events of one time
  kind what;
  std::uint32_t rank;
  void* subject;
  std::uint64_t value;
};

/// Events by time: the next few are sorted, so that whoever handles them can look ahead, the others
/// are in a heap with four children a node: half as deep as a binary one, and siblings share cache
/// lines.
class event_queue {
public:
  /// So many are sorted, if there are.
  static constexpr std::size_t ahead = 16;

  bool empty() const noexcept { return first_ == end_; }
  std::size_t size() const noexcept { return end_ - first_ + heap_.size(); }

  void push(const event& entry) {
    if (end_ - first_ < ahead || before(entry, next_[end_ - 1])) {
      insert(entry);
    } else {
      push_later(entry);
    }
  }

  event pop() {
    const event first = next_[first_++];
    if (!heap_.empty() && end_ - first_ < ahead) append(pop_later());
    return first;
  }

  /// The event that comes `after` so many others, as far as known; null if it is not.
  const event* upcoming(std::size_t after) const noexcept {
    return after < end_ - first_ ? &next_[first_ + after] : nullptr;
  }

private:
  static constexpr std::size_t arity = 4;
  static constexpr std::size_t room = 4 * ahead;

  static bool before(const event& a, const event& b) noexcept {
    return a.when != b.when ? a.when < b.when : a.order < b.order;
  }

  /// Puts it behind those that are sorted.
  void append(const event& entry) noexcept {
    if (end_ == room) {
      std::copy(next_.begin() + first_, next_.begin() + end_, next_.begin());
      end_ -= first_;
      first_ = 0;
    }
    next_[end_++] = entry;
  }

  /// Puts it among them; the last one makes room.
  void insert(const event& entry) {
    if (end_ - first_ == ahead) push_later(next_[--end_]);
    append(entry);
    std::size_t at = end_ - 1;
    for (; at != first_ && before(entry, next_[at - 1]); --at) next_[at] = next_[at - 1];
    next_[at] = entry;
  }

  void push_later(const event& entry) {
    heap_.push_back(entry);
    std::size_t hole = heap_.size() - 1;
    while (hole != 0) {
      const std::size_t parent = (hole - 1) / arity;
      if (!before(entry, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = entry;
  }

  event pop_later() noexcept {
    const event first = heap_.front();
    const event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

  void sink(const event& entry) noexcept {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (;;) {
      std::size_t child = hole * arity + 1;
      if (child >= size) break;
      const std::size_t end = child + arity < size ? child + arity : size;
      for (std::size_t other = child + 1; other < end; ++other) {
        if (before(heap_[other], heap_[child])) child = other;
      }
      if (!before(heap_[child], entry)) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = entry;
  }

  // From first_ to end_ sorted, and before all others. There are others only where these are as
  // many as can be.
  std::array<event, room> next_;
  std::size_t first_ = 0;
  std::size_t end_ = 0;
  std::vector<event> heap_;
};

}  // namespace muster::sim
