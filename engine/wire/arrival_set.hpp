#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <muster/coro/pooled.hpp>

namespace muster::wire {

/// Which of some links something has come on, by their numbers among them.
class arrival_set {
public:
  /// \param links how many, at least one
  explicit arrival_set(std::size_t links) : words_((links + 63) / 64, 0) {}

  bool empty() const noexcept { return count_ == 0; }
  void insert(std::size_t link) noexcept {
    if ((words_[link / 64] & bit(link)) != 0) return;
    words_[link / 64] |= bit(link);
    ++count_;
  }
  void erase(std::size_t link) noexcept {
    if ((words_[link / 64] & bit(link)) == 0) return;
    words_[link / 64] &= ~bit(link);
    --count_;
  }
  bool contains(std::size_t link) const noexcept { return (words_[link / 64] & bit(link)) != 0; }
  /// The first of them; the set is not empty.
  std::size_t first() const noexcept {
    std::size_t w = 0;
    while (words_[w] == 0) ++w;
    return 64 * w + static_cast<std::size_t>(std::countr_zero(words_[w]));
  }

private:
  static std::uint64_t bit(std::size_t i) noexcept { return std::uint64_t{1} << (i % 64); }

  pooled_list<std::uint64_t> words_;
  std::size_t count_ = 0;
};

/// Who wants to know when something comes on a link: puts `number` into `in` then.
struct listener {
  arrival_set* in = nullptr;
  std::size_t number = 0;
  listener* next = nullptr;
};

/// All that want to know the same.
class listeners {
public:
  /// \param one outlives its being among them
  void add(listener& one) noexcept {
    one.next = first_;
    first_ = &one;
  }
  void remove(const listener& one) noexcept {
    listener** at = &first_;
    while (*at != &one) at = &(*at)->next;
    *at = one.next;
  }
  void tell() const noexcept {
    for (const listener* each = first_; each != nullptr; each = each->next) {
      each->in->insert(each->number);
    }
  }

private:
  listener* first_ = nullptr;
};

}  // namespace muster::wire
