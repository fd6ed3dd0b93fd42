#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace muster::tcp {

/// Bytes of something longer, from one to before another.
struct interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const noexcept { return end - begin; }
};

/// Which bytes of something longer, in intervals that do not touch, ascending.
class intervals {
public:
  bool empty() const noexcept { return all_.empty(); }
  void clear() noexcept { all_.clear(); }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

  void add(interval one) {
    if (one.size() == 0) return;
    const auto first = std::ranges::lower_bound(all_, one.begin, {}, &interval::end);
    auto last = first;
    for (; last != all_.end() && last->begin <= one.end; ++last) {
      one.begin = std::min(one.begin, last->begin);
      one.end = std::max(one.end, last->end);
    }
    if (first == last) {
      all_.insert(first, one);
    } else {
      *first = one;
      all_.erase(first + 1, last);
    }
  }
  bool covers(const interval& one) const noexcept {
    const auto found = std::ranges::lower_bound(all_, one.end, {}, &interval::end);
    return one.size() == 0 || (found != all_.end() && found->begin <= one.begin);
  }
  void remove_below(std::uint64_t limit) noexcept {
    const auto first = std::ranges::upper_bound(all_, limit, {}, &interval::end);
    all_.erase(all_.begin(), first);
    if (!all_.empty()) all_.front().begin = std::max(all_.front().begin, limit);
  }
  /// The interval that has this byte.
  std::optional<interval> holding(std::uint64_t at) const noexcept {
    const auto found = std::ranges::upper_bound(all_, at, {}, &interval::end);
    if (found == all_.end() || found->begin > at) return std::nullopt;
    return *found;
  }
  /// There is one.
  interval longest() const noexcept { return *std::ranges::max_element(all_, {}, &interval::size); }
  /// Of one that holds it all.
  void remove(const interval& one) {
    const auto found = std::ranges::upper_bound(all_, one.begin, {}, &interval::end);
    const interval after{one.end, found->end};
    found->end = one.begin;
    const auto next = found->size() == 0 ? all_.erase(found) : found + 1;
    if (after.size() != 0) all_.insert(next, after);
  }
  /// Takes out up to so many of the first bytes; there are some.
  interval take(std::uint64_t most) noexcept {
    interval& front = all_.front();
    const interval taken{front.begin, front.begin + std::min(most, front.size())};
    front.begin = taken.end;
    if (front.size() == 0) all_.erase(all_.begin());
    return taken;
  }

private:
  std::vector<interval> all_;
};

}  // namespace muster::tcp
