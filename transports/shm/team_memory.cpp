#include "transports/shm/team_memory.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <muster/base/error.hpp>

namespace muster::shm {

// ---- failures

bool failure_record::write(const wire::failure& why) noexcept {
  std::uint32_t before = whole;
  if (!state.compare_exchange_strong(before, being_written, std::memory_order_relaxed)) {
    return false;
  }
  code = why.code;
  rank = why.rank;
  const std::size_t length = std::min(why.text.size(), text.size() - 1);
  std::memcpy(text.data(), why.text.data(), length);
  text[length] = '\0';
  state.store(written, std::memory_order_release);
  return true;
}

std::optional<wire::failure> failure_record::read() const {
  // acquire: pairs with the release in `write`.
  if (state.load(std::memory_order_acquire) != written) return std::nullopt;
  return wire::failure{code, rank, text.data()};
}

// ---- a team's

struct team_memory::head {
  allocation_head head;  // of a derived team's
  alignas(wire::cache_line) failure_record failure;
};

team_memory::team_memory(std::byte* base) noexcept
    : base_(base), records_(reinterpret_cast<wire::call_record*>(base + sizeof(head))) {}

std::size_t team_memory::bytes(std::size_t ranks, wire::extent much) noexcept {
  return sizeof(head) + much.lanes * ranks * sizeof(wire::call_record);
}

team_memory::head& team_memory::front() const noexcept { return *reinterpret_cast<head*>(base_); }

failure_record& team_memory::failure() const noexcept { return front().failure; }

}  // namespace muster::shm
