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

// ---- rings

namespace {

constexpr std::uint64_t number_bits = 0xffff'ffffU;

}  // namespace

std::uint32_t ring_pool::take() {
  // acquire: the ring is empty, and what was pushed before it is linked to it.
  std::uint64_t top = head_->free.load(std::memory_order_acquire);
  while ((top & number_bits) != 0) {
    const auto number = static_cast<std::uint32_t>((top & number_bits) - 1);
    // It may be taken meanwhile, and its link changed: then the count is another, too.
    const std::uint64_t next = rings_[number].next.load(std::memory_order_relaxed);
    const std::uint64_t changed = (top & ~number_bits) + (number_bits + 1);
    if (head_->free.compare_exchange_weak(top, changed | next, std::memory_order_acquire)) {
      return number;
    }
  }
  const std::uint64_t fresh = head_->used.fetch_add(1, std::memory_order_relaxed);
  if (fresh < count_) return static_cast<std::uint32_t>(fresh);
  head_->used.fetch_sub(1, std::memory_order_relaxed);
  throw error(errc::resource,
              "shared memory: all " + std::to_string(count_) + " channels of this job are in use");
}

void ring_pool::give_back(std::uint32_t number) noexcept {
  ring& idle = rings_[number];
  idle.written.store(0, std::memory_order_relaxed);
  idle.read.store(0, std::memory_order_relaxed);
  idle.refused.store(0, std::memory_order_relaxed);
  std::uint64_t top = head_->free.load(std::memory_order_relaxed);
  std::uint64_t changed = 0;
  do {
    idle.next.store(static_cast<std::uint32_t>(top & number_bits), std::memory_order_relaxed);
    changed = ((top & ~number_bits) + (number_bits + 1)) | (number + 1U);
    // release: pairs with the acquire in `take`.
  } while (!head_->free.compare_exchange_weak(top, changed, std::memory_order_acq_rel));
}

// ---- a team's

struct team_memory::head {
  lot_head lot;  // of a derived team's
  alignas(wire::cache_line) failure_record failure;
  alignas(wire::cache_line) std::atomic<std::uint32_t> rings;  // the team's, linked; number + 1
};

team_memory::team_memory(std::byte* base, std::size_t ranks, wire::extent much) noexcept
    : base_(base),
      ranks_(ranks),
      records_(reinterpret_cast<wire::call_record*>(base + sizeof(head))),
      rings_(reinterpret_cast<std::atomic<std::uint32_t>*>(base + ring_numbers(ranks, much))) {}

std::size_t team_memory::ring_numbers(std::size_t ranks, wire::extent much) noexcept {
  return sizeof(head) + much.lanes * ranks * sizeof(wire::call_record);
}

std::size_t team_memory::bytes(std::size_t ranks, wire::extent much) noexcept {
  return ring_numbers(ranks, much) +
         much.link_lanes() * streams * ranks * ranks * sizeof(std::atomic<std::uint32_t>);
}

team_memory::head& team_memory::front() const noexcept { return *reinterpret_cast<head*>(base_); }

failure_record& team_memory::failure() const noexcept { return front().failure; }

ring& team_memory::ring_of(ring_pool& from, std::size_t which, std::size_t sender,
                           std::size_t receiver) const {
  std::atomic<std::uint32_t>& known = ring_number(which, sender, receiver);
  // acquire: the other side's ring is empty.
  std::uint32_t seen = known.load(std::memory_order_acquire);
  if (seen != 0) return from[seen - 1];
  const std::uint32_t mine = from.take();
  // release: this one is.
  if (!known.compare_exchange_strong(seen, mine + 1, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
    from.give_back(mine);
    return from[seen - 1];
  }
  std::atomic<std::uint32_t>& first = front().rings;
  std::uint32_t next = first.load(std::memory_order_relaxed);
  do {
    from[mine].next.store(next, std::memory_order_relaxed);
    // relaxed: whoever reads the list has seen every rank leave.
  } while (!first.compare_exchange_weak(next, mine + 1, std::memory_order_relaxed));
  return from[mine];
}

ring* team_memory::find_ring(const ring_pool& in, std::size_t which, std::size_t sender,
                             std::size_t receiver) const noexcept {
  // acquire: the ring is empty but for what its sender wrote.
  const std::uint32_t seen = ring_number(which, sender, receiver).load(std::memory_order_acquire);
  return seen == 0 ? nullptr : &in[seen - 1];
}

void team_memory::give_back(ring_pool to) const noexcept {
  std::uint32_t next = front().rings.load(std::memory_order_relaxed);
  while (next != 0) {
    const std::uint32_t number = next - 1;
    next = to[number].next.load(std::memory_order_relaxed);
    to.give_back(number);
  }
}

}  // namespace muster::shm
