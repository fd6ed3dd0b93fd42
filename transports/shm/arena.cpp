#include "transports/shm/arena.hpp"

#include <functional>
#include <iterator>
#include <string>

#include <muster/base/error.hpp>

namespace muster::shm {
namespace {

constexpr std::size_t page = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

arena::arena(std::span<std::byte> memory) : memory_(memory) {
  if (!memory.empty()) free_.emplace(0, memory.size());
}

std::span<std::byte> arena::allocate(std::size_t bytes) {
  // What cannot fit must not wrap around when it is rounded up.
  const std::size_t length = bytes > memory_.size() ? bytes : whole_pages(bytes);
  for (auto entry = free_.begin(); entry != free_.end(); ++entry) {
    const auto [offset, available] = *entry;
    if (available < length) continue;
    free_.erase(entry);
    if (available > length) free_.emplace(offset + length, available - length);
    return memory_.subspan(offset, bytes);
  }
  throw error(errc::resource, "shared memory: no " + std::to_string(bytes) +
                                  " bytes free in a row of this rank's " +
                                  std::to_string(memory_.size()));
}

void arena::deallocate(std::span<std::byte> part) noexcept {
  std::size_t length = whole_pages(part.size());
  if (length == 0) return;
  auto offset = static_cast<std::size_t>(part.data() - memory_.data());
  const auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      length += previous->second;
      free_.erase(previous);
    }
  }
  if (next != free_.end() && offset + length == next->first) {
    length += next->second;
    free_.erase(next);
  }
  free_.emplace(offset, length);
}

bool arena::contains(std::span<const std::byte> bytes) const noexcept {
  constexpr std::less_equal<const std::byte*> not_after;
  return not_after(memory_.data(), bytes.data()) &&
         not_after(bytes.data() + bytes.size(), memory_.data() + memory_.size());
}

}  // namespace muster::shm
