#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace muster::verbs {

/// First in, first out. Once it has been as long as it gets it allocates nothing.
template <class T>
class ring_queue {
public:
  bool empty() const noexcept { return begin_ == end_; }
  std::size_t size() const noexcept { return end_ - begin_; }
  T& front() noexcept { return at(0); }
  T& back() noexcept { return at(size() - 1); }
  /// The i-th.
  T& at(std::size_t i) noexcept { return all_[(begin_ + i) & (all_.size() - 1)]; }
  const T& at(std::size_t i) const noexcept { return all_[(begin_ + i) & (all_.size() - 1)]; }
  void push(T one) {
    if (size() == all_.size()) grow();
    all_[end_++ & (all_.size() - 1)] = std::move(one);
  }
  void pop() noexcept { ++begin_; }
  void clear() noexcept { begin_ = end_; }

private:
  void grow() {
    std::vector<T> more(all_.empty() ? 16 : 2 * all_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) more[i] = std::move(at(i));
    all_ = std::move(more);
    begin_ = 0;
    end_ = count;
  }

  std::vector<T> all_;  // a power of two
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace muster::verbs
