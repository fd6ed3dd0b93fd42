#include "transports/shm/arena.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

#include <muster/base/error.hpp>

namespace muster::shm {
namespace {

constexpr std::size_t page = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

arena::arena(std::span<std::byte> memory) : memory_(memory), spare_(1) {
  (memory.empty() ? spare_ : free_).push_back({0, memory.size()});
}

std::span<std::byte> arena::allocate(std::size_t bytes) {
  // What cannot fit must not wrap around when it is rounded up.
  const std::size_t length = bytes > memory_.size() ? bytes : whole_pages(bytes);
  if (length == 0) return memory_.first(0);
  const auto first =
      std::ranges::find_if(free_, [&](const stretch& each) { return each.length >= length; });
  if (first == free_.end()) {
    throw error(errc::resource, "shared memory: no " + std::to_string(bytes) +
                                    " bytes free in a row of this rank's " +
                                    std::to_string(memory_.size()));
  }
  spare_.emplace_back();  // the last step that may fail
  const std::span<std::byte> part = memory_.subspan(first->offset, bytes);
  first->offset += length;
  first->length -= length;
  if (first->length == 0) spare_.splice(spare_.end(), free_, first);
  return part;
}

void arena::deallocate(std::span<std::byte> part) noexcept {
  const std::size_t length = whole_pages(part.size());
  if (length == 0) return;
  const auto offset = static_cast<std::size_t>(part.data() - memory_.data());
  const auto next =
      std::ranges::find_if(free_, [&](const stretch& each) { return each.offset > offset; });
  free_.splice(next, spare_, spare_.begin());
  const auto here = std::prev(next);
  *here = {offset, length};
  join_next(here);
  if (here != free_.begin()) join_next(std::prev(here));
  spare_.pop_back();
}

void arena::join_next(std::list<stretch>::iterator one) noexcept {
  const auto next = std::next(one);
  if (next == free_.end() || one->offset + one->length != next->offset) return;
  one->length += next->length;
  spare_.splice(spare_.end(), free_, next);
}

bool arena::contains(std::span<const std::byte> bytes) const noexcept {
  constexpr std::less_equal<const std::byte*> not_after;
  return not_after(memory_.data(), bytes.data()) &&
         not_after(bytes.data() + bytes.size(), memory_.data() + memory_.size());
}

}  // namespace muster::shm
