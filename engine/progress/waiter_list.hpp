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

  class iterator {
  public:
    explicit iterator(waiter* at) noexcept : at_(at) {}
    waiter& operator*() const noexcept { return *at_; }
    iterator& operator++() noexcept {
      at_ = at_->next_;
      return *this;
    }
    bool operator==(const iterator&) const = default;

  private:
    waiter* at_;
  };
  iterator begin() const noexcept { return iterator(first_); }
  iterator end() const noexcept { return iterator(nullptr); }

  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  /// Null where there is none.
  waiter* first() const noexcept { return first_; }
  /// How many were ever put in front.
  std::size_t put_in_front() const noexcept { return put_in_front_; }

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
    ++put_in_front_;
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
  std::size_t put_in_front_ = 0;
};

}  // namespace muster
