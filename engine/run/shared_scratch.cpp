#include <muster/run/shared_scratch.hpp>

#include <bit>

#include <muster/run/context.hpp>

namespace muster {

shared_scratch::shared_scratch(context& me, std::size_t bytes)
    : me_(me), bytes_(bytes), memory_(me.team_.take_shared_scratch(bytes)) {}

shared_scratch::~shared_scratch() {
  if (released_) me_.team_.give_back_shared_scratch(memory_);
}

void shared_scratch::announce() noexcept {
  // No payload: it counts where a simulation leaves that out, too.
  const wire::origin place = where();
  static_assert(sizeof place <= wire::inline_bytes);
  std::memcpy(me_.arrival(me_.index_).payload.data(), &place, sizeof place);
  me_.arrive();
}

wire::origin shared_scratch::where() const noexcept { return me_.memory().lend(memory_, false); }

task<std::span<std::byte>> context::shared_scratch_of(std::size_t local_peer, std::size_t bytes) {
  const auto published = co_await read(local_peer, sizeof(wire::origin));
  wire::origin where;
  std::memcpy(&where, published.data(), sizeof where);
  co_return shared_scratch_at(where, bytes);
}

std::span<std::byte> context::shared_scratch_at(const wire::origin& where,
                                                std::size_t bytes) const noexcept {
  return {const_cast<std::byte*>(memory().borrow(where)), bytes};
}

// ---- the team's

std::span<std::byte> team::take_shared_scratch(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  const std::size_t wanted = std::bit_ceil(std::max(bytes, page));
  for (auto each = idle_shared_scratch_.begin(); each != idle_shared_scratch_.end(); ++each) {
    if (each->size() != wanted) continue;
    const std::span<std::byte> found = *each;
    idle_shared_scratch_.erase(each);
    return found;
  }
  idle_shared_scratch_.reserve(shared_scratch_count_ + 1);  // so that giving it back cannot fail
  constexpr auto use = wire::node_memory::use::shared_scratch;
  std::span<std::byte> taken;
  try {
    taken = memory_.allocate(wanted, use);
  } catch (const error&) {  // idle memory of other sizes may be in the way
    free_shared_scratch();
    taken = memory_.allocate(wanted, use);
  }
  ++shared_scratch_count_;
  return taken;
}

void team::give_back_shared_scratch(std::span<std::byte> memory) noexcept {
  idle_shared_scratch_.push_back(memory);
}

void team::free_shared_scratch() noexcept {
  for (const std::span<std::byte> each : idle_shared_scratch_) memory_.deallocate(each);
  shared_scratch_count_ -= idle_shared_scratch_.size();
  idle_shared_scratch_.clear();
}

}  // namespace muster
