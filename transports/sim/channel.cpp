#include "transports/sim/channel.hpp"

#include <algorithm>
#include <cstring>

#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

void channel::begin(const pair& of) noexcept {
  of_ = of;
  begun_ = true;
  sent_ = arrived_ = taken_ = returned_ = credited_ = 0;
}

void channel::put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept {
  send(head, body, false);
}

void channel::put_zero_copy(std::span<const std::byte> head,
                            std::span<const std::byte> body) noexcept {
  send(head, body, true);
}

void channel::send(std::span<const std::byte> head, std::span<const std::byte> body,
                   bool zero_copy) {
  message& one = in_.make_message();
  one.zero_copy = zero_copy;
  one.on = this;
  one.from = static_cast<std::uint32_t>(of_.from);
  one.to = static_cast<std::uint32_t>(of_.to);
  one.from_byte = sent_;
  one.bytes = head.size() + body.size();
  one.head_bytes = static_cast<std::uint32_t>(head.size());
  std::ranges::copy(head, one.head.begin());
  if (in_.with_payload()) {
    one.body.assign(body.begin(), body.end());
    one.source = body.data();
  }
  sent_ += one.bytes;
  in_.rank_at(of_.from).post(one);
  if (one.leaves_later) {
    ++leaving_;
    ++under_way_;
  }
}

void channel::hold(const message& one) { held_.push_back({one.from_byte, one.source, one.body}); }

void channel::let_go(std::uint64_t from_byte) {
  std::erase_if(held_, [&](const held_body& one) { return one.from_byte == from_byte; });
}

bool channel::is_unchanged(std::uint64_t from_byte) const {
  const auto one = std::ranges::find(held_, from_byte, &held_body::from_byte);
  return one == held_.end() ||
         std::ranges::equal(one->bytes, std::span(one->source, one->bytes.size()));
}

bool channel::deliver(message& one) noexcept {
  --under_way_;
  message** place = &inbox_;
  while (*place != nullptr && (*place)->from_byte < one.from_byte) place = &(*place)->next;
  const bool known =
      one.from_byte < arrived_ || (*place != nullptr && (*place)->from_byte == one.from_byte);
  if (known) {
    in_.free_message(one);
    return false;
  }
  one.next = *place;
  *place = &one;
  const std::uint64_t before = arrived_;
  for (const message* each = &one; each != nullptr && each->from_byte == arrived_;
       each = each->next) {
    arrived_ = each->end_byte();
  }
  if (arrived_ == before) return false;
  listeners_.tell();
  return true;
}

void channel::lose(message& one) noexcept {
  --under_way_;
  in_.free_message(one);
}

void channel::peek(std::span<std::byte> head) const noexcept {
  std::memcpy(head.data(), inbox_->head.data(), head.size());
}

void channel::take(std::span<std::byte> to) noexcept {
  rank& receiver = in_.rank_at(of_.to);
  while (!to.empty()) {
    message& first = *inbox_;
    const auto skipped = static_cast<std::size_t>(taken_ - first.from_byte);
    const std::size_t now = std::min(to.size(), first.bytes - skipped);
    if (skipped == 0) receiver.notice(first);
    take_from(first, to.first(now), skipped);
    taken_ += now;
    to = to.subspan(now);
    if (taken_ != first.end_byte()) continue;
    inbox_ = first.next;
    in_.free_message(first);
  }
  return_credit();
}

void channel::take_from(message& first, std::span<std::byte> to, std::size_t skipped) noexcept {
  if (skipped < first.head_bytes) {
    const std::size_t head = std::min<std::size_t>(to.size(), first.head_bytes - skipped);
    std::memcpy(to.data(), first.head.data() + skipped, head);
    to = to.subspan(head);
    skipped += head;
  }
  if (to.empty()) return;
  if (in_.with_payload() && !first.body.empty()) {
    std::memcpy(to.data(), first.body.data() + (skipped - first.head_bytes), to.size());
  }
  in_.rank_at(of_.to).receive(first, to);
}

// Credit goes back with the traffic: not for every message, but before a sender could run out.
void channel::return_credit() noexcept {
  if (taken_ - returned_ < capacity / 4) return;
  returned_ = taken_;
  ++under_way_;
  in_.rank_at(of_.to).send_credit(*this, taken_);
}

}  // namespace muster::sim
