#include <muster/run/staging.hpp>

#include <bit>

#include <muster/run/context.hpp>

namespace muster {

staging::staging(context& me, std::size_t bytes)
    : me_(me), bytes_(bytes), memory_(me.team_.take_staging(bytes)) {}

staging::~staging() {
  if (released_) me_.team_.give_back_staging(memory_);
}

void staging::announce() noexcept {
  // No payload: it counts where a simulation leaves that out, too.
  const wire::origin place = where();
  static_assert(sizeof place <= wire::inline_bytes);
  std::memcpy(me_.arrival(me_.index_).payload.data(), &place, sizeof place);
  me_.arrive();
}

wire::origin staging::where() const noexcept { return me_.fabric().lend(memory_, false); }

task<std::span<std::byte>> context::staging_of(std::size_t neighbour, std::size_t bytes) {
  const auto published = co_await read(neighbour, sizeof(wire::origin));
  wire::origin where;
  std::memcpy(&where, published.data(), sizeof where);
  co_return staging_at(where, bytes);
}

std::span<std::byte> context::staging_at(const wire::origin& where,
                                         std::size_t bytes) const noexcept {
  return {const_cast<std::byte*>(fabric().borrow(where)), bytes};
}

// ---- the team's

std::span<std::byte> team::take_staging(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t wanted = std::bit_ceil(std::max(bytes, page));
  for (auto each = idle_staging_.begin(); each != idle_staging_.end(); ++each) {
    if (each->size() != wanted) continue;
    const std::span<std::byte> found = *each;
    idle_staging_.erase(each);
    return found;
  }
  idle_staging_.reserve(staging_count_ + 1);  // so that giving it back cannot fail
  constexpr auto use = wire::fabric::memory_use::staging;
  std::span<std::byte> taken;
  try {
    taken = fabric_.allocate(wanted, use);
  } catch (const error&) {  // idle memory of other sizes may be in the way
    free_staging();
    taken = fabric_.allocate(wanted, use);
  }
  ++staging_count_;
  return taken;
}

void team::give_back_staging(std::span<std::byte> memory) noexcept {
  idle_staging_.push_back(memory);
}

void team::free_staging() noexcept {
  for (const std::span<std::byte> each : idle_staging_) fabric_.deallocate(each);
  staging_count_ -= idle_staging_.size();
  idle_staging_.clear();
}

}  // namespace muster
