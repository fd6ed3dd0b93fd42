#include <muster/run/shared_scratch_pool.hpp>

#include <algorithm>
#include <bit>

#include <muster/base/error.hpp>

namespace muster {

std::span<std::byte> shared_scratch_pool::take(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t wanted = std::bit_ceil(std::max(bytes, page));
  const auto fits = std::ranges::find(idle_, wanted, &std::span<std::byte>::size);
  if (fits != idle_.end()) {
    const std::span<std::byte> found = *fits;
    idle_.erase(fits);
    return found;
  }
  idle_.reserve(count_ + 1);  // so that giving it back cannot fail
  constexpr auto use = wire::node_memory::use::shared_scratch;
  std::span<std::byte> taken;
  try {
    taken = memory_.allocate(wanted, use);
  } catch (const error&) {  // idle memory of other sizes may be in the way
    free_idle();
    taken = memory_.allocate(wanted, use);
  }
  ++count_;
  return taken;
}

void shared_scratch_pool::free_idle() noexcept {
  for (const std::span<std::byte> each : idle_) memory_.deallocate(each);
  count_ -= idle_.size();
  idle_.clear();
}

}  // namespace muster
