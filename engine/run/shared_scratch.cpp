#include <muster/run/shared_scratch.hpp>

#include <cstring>

#include <muster/run/context.hpp>

namespace muster {

shared_scratch::shared_scratch(context& me, std::size_t bytes)
    : me_(me), bytes_(bytes), memory_(me.state().books().shared_scratch.take(bytes)) {}

shared_scratch::~shared_scratch() {
  if (released_) me_.state().books().shared_scratch.give_back(memory_);
}

void shared_scratch::announce() noexcept {
  // No payload: it counts where a simulation leaves that out, too.
  const wire::origin place = where();
  static_assert(sizeof place <= wire::inline_bytes);
  std::memcpy(me_.state().publication(me_.node_index(), sizeof place), &place, sizeof place);
  me_.arrive();
}

wire::origin shared_scratch::where() const noexcept {
  return me_.state().memory().lend(memory_, false);
}

}  // namespace muster
