#include "transports/shm/shared_allocations.hpp"

#include <algorithm>

#include <muster/base/error.hpp>

namespace muster::shm {

std::span<std::byte> shared_allocations::allocate(std::size_t bytes, std::size_t users) {
  // More than one is looked at for each that is made, so that those left behind stay few.
  constexpr std::size_t at_a_time = 8;
  collect(at_a_time);
  allocated_.reserve(allocated_.size() + 1);
  std::span<std::byte> allocation;
  try {
    allocation = arena_.allocate(bytes);
  } catch (const error&) {
    collect(allocated_.size());
    allocation = arena_.allocate(bytes);
  }
  allocated_.push_back(allocation);
  // relaxed: whoever is told of the allocation is told after this.
  reinterpret_cast<allocation_head*>(allocation.data())
      ->users.store(static_cast<std::uint32_t>(users + 1), std::memory_order_relaxed);
  return allocation;
}

void shared_allocations::withdraw(const std::byte* allocation) noexcept {
  const auto same = [allocation](std::span<std::byte> each) { return each.data() == allocation; };
  free(static_cast<std::size_t>(std::ranges::find_if(allocated_, same) - allocated_.begin()));
}

void shared_allocations::collect(std::size_t most) noexcept {
  for (most = std::min(most, allocated_.size()); most != 0; --most) {
    if (next_ >= allocated_.size()) next_ = 0;
    const auto* head = reinterpret_cast<const allocation_head*>(allocated_[next_].data());
    // acquire: pairs with the one in `release`.
    if (head->users.load(std::memory_order_acquire) == 0) {
      free(next_);
    } else {
      ++next_;
    }
  }
}

void shared_allocations::free(std::size_t index) noexcept {
  const std::span<std::byte> allocation = allocated_[index];
  allocated_[index] = allocated_.back();
  allocated_.pop_back();
  memory_.clear(allocation);
  arena_.deallocate(allocation);
}

}  // namespace muster::shm
