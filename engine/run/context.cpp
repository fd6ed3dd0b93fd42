#include <muster/run/context.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <muster/base/prefetch.hpp>

namespace muster {

void context::choose_copies() noexcept {
  copy_to_result_ = books().to_results.of(received_in_node());
}

std::size_t context::received_in_node() const noexcept {
  const std::size_t receivers = call_.is_gather() ? 1 : node_.size();
  return call_.received_bytes(size()) * receivers;
}

namespace {

// Far enough ahead for a line to come back from its last reader while operations go on.
constexpr std::size_t soon = 4;

}  // namespace

// The line of an operation soon to come is still in the cache of whoever read it last; a store that
// has to fetch it would hold up those after it.
inline void context::prefetch_own_arrival(const wire::board& in) const noexcept {
  prefetch_to_write(&in.arrival(in.lane_of(ticket_.sequence + soon), index_));
}

void context::arrive() {
  if (skips_announcement()) return;
  if (is_checked()) [[unlikely]]
    checks().arrive(arrived_);
  announce_arrival(arrival(index_));
}

inline void context::announce_arrival(wire::arrival& mine) noexcept {
  wire::node_memory& memory = this->memory();
  arrived_ = true;
  // relaxed: published by the announcement.
  mine.completed.store(books().order.completed(), std::memory_order_relaxed);
  if (!memory.announces_to_those_awake(mine.word, ticket_.word)) [[unlikely]] {
    return announce_and_wake(mine);
  }
  prefetch_own_arrival(memory.board());
}

void context::announce_and_wake(wire::arrival& mine) noexcept {
  memory().announce(mine.word, ticket_.word);
  prefetch_own_arrival(board());
}

std::size_t context::first_here() {
  if (is_checked()) [[unlikely]]
    checks().use_node("asks who is first");
  wire::counter& first = board().arrival_counter(ticket_.lane).first;
  const std::uint64_t mine = ticket_.segments(index_);
  const auto is_of_this_operation = [mine](std::uint64_t word) { return (word ^ mine) >> 32 == 0; };
  // relaxed: it says who, and nothing of what that one has done. The line is this operation's, or
  // of an earlier one that the whole node has completed.
  std::uint64_t seen = first.load(std::memory_order_relaxed);
  while (!is_of_this_operation(seen)) {
    if (first.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) seen = mine;
  }
  have_read(&first);
  return seen & std::numeric_limits<std::uint32_t>::max();
}

void context::prepare_next_publication(std::size_t bytes) const noexcept {
  if (ticket_.kind != stage_kind::one_way) return;
  // One-way stages go with the lanes.
  const std::byte* const stage = staged(board().lane_of(ticket_.sequence + soon), index_, bytes);
  for (std::size_t at = 0; at < std::min(bytes, 2 * wire::cache_line); at += wire::cache_line) {
    prefetch_to_write(stage + at);
  }
}

void context::check_publication(std::size_t bytes) {
  checks().publish(bytes);
  checks().arrive(arrived_);
}

void context::publish(std::span<const std::byte> bytes) {
  if (skips_announcement()) return;
  // Most short messages are one element.
  if (is_checked() || bytes.size() != sizeof(std::uint64_t)) return publish_some(bytes);
  wire::arrival& mine = arrival(index_);
  std::memcpy(mine.payload.data(), bytes.data(), sizeof(std::uint64_t));
  announce_arrival(mine);
}

void context::publish_some(std::span<const std::byte> bytes) {
  if (is_checked() || bytes.size() > wire::inline_bytes) return publish_staged(bytes);
  wire::arrival& mine = arrival(index_);
  copy_bytes(mine.payload.data(), bytes.data(), bytes.size());
  announce_arrival(mine);
}

void context::publish_staged(std::span<const std::byte> bytes) {
  if (is_checked()) [[unlikely]]
    check_publication(bytes.size());
  move_bytes(time(), {publication(index_, bytes.size()), bytes.size()}, bytes.data());
  announce_arrival(arrival(index_));
  prepare_next_publication(bytes.size());
}

void context::publish(std::span<const std::byte> first, std::span<const std::byte> second) {
  if (skips_announcement()) return;
  const std::size_t bytes = first.size() + second.size();
  if (is_checked()) [[unlikely]]
    check_publication(bytes);
  std::byte* const place = publication(index_, bytes);
  move_bytes(time(), {place, first.size()}, first.data());
  move_bytes(time(), {place + first.size(), second.size()}, second.data());
  announce_arrival(arrival(index_));
  prepare_next_publication(bytes);
}

wire::work_wait context::combine_otherwise(std::byte* to, std::span<const std::byte* const> from,
                                           std::size_t count) {
  wire::virtual_time* const time = this->time();
  read_local_peers([=, this] {
    if (time != nullptr) [[unlikely]] {
      time->combine(call_, to, from, count);
    } else {
      muster::combine(call_, to, from, count);
    }
  });
  return wire::work_wait(time);
}

std::span<std::byte> context::scratch(std::size_t bytes) { return scratch_.take(bytes); }

std::span<const std::byte> context::save(std::span<const std::byte> bytes) {
  wire::virtual_time* const time = this->time();
  if (bytes.empty() || (time != nullptr && !time->carries_payload())) return bytes;
  const std::span<std::byte> aside = scratch(bytes.size());
  move_bytes(time, aside, bytes.data());
  return aside;
}

void context::save(std::span<std::span<const std::byte>> blocks) {
  wire::virtual_time* const time = this->time();
  if (time != nullptr && !time->carries_payload()) return;
  std::size_t all = 0;
  for (const auto& block : blocks) all += block.size();
  std::span<std::byte> rest = scratch(all);
  for (auto& block : blocks) {
    if (block.empty()) continue;
    const auto place = rest.first(block.size());
    move_bytes(time, place, block.data());
    block = place;
    rest = rest.subspan(place.size());
  }
}

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

}  // namespace muster
