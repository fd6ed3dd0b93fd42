#pragma once

#include <cstddef>

#include <muster/progress/waiter.hpp>

namespace muster {

/// Waiters in a row, each linked where it lives.
class waiter_list {
public:
  waiter_list() = default;
  waiter_list(const waiter_list&) = delete;
  waiter_list& operator=(const waiter_list&) = delete;

  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  /// Null where there is none.
  waiter* first() const noexcept { return first_; }
  static waiter* after(const waiter& entry) noexcept { return entry.next_; }

  void push_back(waiter& entry) noexcept {
    add(entry);
    entry.previous_ = last_;
    (last_ != nullptr ? last_->next_ : first_) = &entry;
    last_ = &entry;
  }
  void push_front(waiter& entry) noexcept {
    add(entry);
    entry.next_ = first_;
    (first_ != nullptr ? first_->previous_ : last_) = &entry;
    first_ = &entry;
  }
  void erase(waiter& entry) noexcept {
    (entry.previous_ != nullptr ? entry.previous_->next_ : first_) = entry.next_;
    (entry.next_ != nullptr ? entry.next_->previous_ : last_) = entry.previous_;
    entry.list_ = nullptr;
    --size_;
  }
  void move_to_back(waiter& entry) noexcept {
    if (&entry == last_) return;
    erase(entry);
    push_back(entry);
  }

private:
  void add(waiter& entry) noexcept {
    entry.list_ = this;
    entry.next_ = nullptr;
    entry.previous_ = nullptr;
    ++size_;
  }

  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace muster
