#include "transports/shm/lots.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include <muster/base/error.hpp>

namespace muster::shm {

std::span<std::byte> lots::let(std::size_t bytes, std::size_t users) {
  // More than one is looked at for each that is let, so that those left behind stay few.
  constexpr std::size_t at_a_time = 8;
  collect(at_a_time);
  let_.reserve(let_.size() + 1);
  std::span<std::byte> lot;
  try {
    lot = arena_.allocate(bytes);
  } catch (const error&) {
    collect(let_.size());
    lot = arena_.allocate(bytes);
  }
  let_.push_back(lot);
  // relaxed: whoever is told of the lot is told after this.
  reinterpret_cast<lot_head*>(lot.data())
      ->users.store(static_cast<std::uint32_t>(users + 1), std::memory_order_relaxed);
  return lot;
}

void lots::withdraw(const std::byte* lot) noexcept {
  const auto same = [lot](std::span<std::byte> each) { return each.data() == lot; };
  take_back(static_cast<std::size_t>(std::ranges::find_if(let_, same) - let_.begin()));
}

void lots::collect(std::size_t most) noexcept {
  for (most = std::min(most, let_.size()); most != 0; --most) {
    if (next_ >= let_.size()) next_ = 0;
    const auto* head = reinterpret_cast<const lot_head*>(let_[next_].data());
    // acquire: pairs with the release in `leave`.
    if (head->users.load(std::memory_order_acquire) == 0) {
      take_back(next_);
    } else {
      ++next_;
    }
  }
}

void lots::take_back(std::size_t index) noexcept {
  const std::span<std::byte> lot = let_[index];
  let_[index] = let_.back();
  let_.pop_back();
  // Gives the pages back, which makes them zero; where the system cannot, they are zeroed.
  if (::madvise(lot.data(), lot.size(), MADV_REMOVE) != 0) {
    std::memset(lot.data(), 0, lot.size());
  }
  arena_.deallocate(lot);
}

}  // namespace muster::shm
