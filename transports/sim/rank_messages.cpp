// What it costs a rank to reach others: flags, lent memory, messages.

#include <algorithm>
#include <cstring>

#include "transports/sim/channel.hpp"
#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

void rank::announce(wire::counter& word, std::uint64_t value) noexcept {
  ++announced_;
  ++unheard_;
  // Strictly one after the other: what a rank announces becomes visible in that order.
  last_visible_ = std::max(local() + in_.disturbed(in_.costs().flag), last_visible_ + 1);
  in_.schedule(last_visible_, event::kind::store, *this, &word, value);
}

wire::origin rank::lend(std::span<const std::byte> bytes, bool foreign) const noexcept {
  using kind = wire::origin::kind;
  const auto address = reinterpret_cast<std::uint64_t>(bytes.data());
  if (node_.is_allocated(bytes)) return {kind::segment, address};
  if (in_.options().one_process) return {kind::process, address};
  if (foreign && in_.machine().foreign_allowed) return {kind::foreign, address};
  return {};
}

void rank::fetch(const std::byte* from, std::span<std::byte> to) noexcept {
  if (in_.with_payload()) std::memcpy(to.data(), from, to.size());
  counters_.shared_read += to.size();
  const picoseconds begins = local();
  charge_kernel_copy(to.size());
  if (in_.trace() != nullptr) {
    in_.trace()->slice(number_, "kernel copy", begins, local(), to.size());
  }
}

void rank::charge_kernel_copy(std::size_t bytes) noexcept {
  const model::memory_parameters& memory = in_.model().memory;
  charge(from_ns(memory.kernel_copy_call_ns) + transfer_time(bytes, memory.kernel_copy_gbs));
}

// ---- messages

// In place: the receiver copies from the sender's buffer, if its kernel can, or they share it.
bool rank::goes_through_memory(const message& one) const noexcept {
  if (!one.zero_copy) return true;
  return !in_.options().one_process && in_.model().memory.kernel_copy_gbs == 0;
}

void rank::post(message& one) noexcept {
  constexpr std::size_t piece = channel::capacity / 2;
  const std::size_t to = one.on->of().to;
  rank& receiver = in_.rank_at(to);
  const bool in_node = &receiver.node_ == &node_;
  const std::size_t body = one.bytes - one.head_bytes;
  if (!receiver.received_from_[number_]) {
    receiver.received_from_[number_] = true;
    receiver.counters_.channel_memory += channel::capacity;
  }
  const picoseconds begins = local();
  one.on->post();
  ++unheard_;
  if (in_node) {
    ++counters_.node_sends;
    counters_.node_bytes += body;
    if (goes_through_memory(one)) charge_copy(body, level::other_core, buffers_);
    picoseconds there = local();
    // A long one goes piece by piece: its receiver follows.
    if (one.zero_copy && body > piece) {
      there = begins + (there - begins) / static_cast<picoseconds>(body / piece);
    }
    in_.schedule(there + in_.disturbed(in_.costs().flag), event::kind::deliver, receiver, &one);
  } else {
    ++counters_.sends;
    counters_.sent_bytes += body;
    if (!sent_to_[to]) {
      sent_to_[to] = true;
      ++counters_.connections;
    }
    charge_put(one);
    in_.schedule(local(), event::kind::transmit, *this, &one);
  }
  if (in_.trace() == nullptr) return;
  in_.trace()->slice(number_, "put", begins, local(), body);
  in_.trace()->leaves(number_, one.number, begins);
}

// What the sender's core does for a put between nodes.
void rank::charge_put(message& one) noexcept {
  const model::network_parameters& network = in_.model().network;
  const model::memory_parameters& memory = in_.model().memory;
  const bool pushed =
      network.moved_by == model::mover::core ||
      (network.moved_by == model::mover::both && one.bytes <= network.core_push_to_bytes);
  charge(in_.costs().send);
  if (pushed) {
    charge(transfer_time(one.bytes, network.core_push_gbs));
  } else if (!one.zero_copy && one.bytes <= network.copy_to_bytes) {
    charge(transfer_time(one.bytes, memory.core_copy_gbs));
  } else {
    one.leaves_later = true;
    register_for(one);
  }
}

// Buffers stay registered: only those of the first operations, until they come round again, cost.
void rank::register_for(const message& one) noexcept {
  const std::uint64_t lane = std::uint64_t{1} << one.on->of().lane % wire::lanes;
  if ((registered_ & lane) != 0) return;
  registered_ |= lane;
  if (registrations_++ >= in_.options().buffers_in_turn) return;
  const model::memory_parameters& memory = in_.model().memory;
  constexpr std::size_t page_bytes = 4096;
  const std::size_t pages =
      (std::max(contributed_, one.bytes - one.head_bytes) + page_bytes - 1) / page_bytes;
  charge(from_ns(memory.register_ns + memory.register_page_ns * static_cast<double>(pages)));
}

void rank::receive(const message& one, std::span<std::byte> to) {
  const std::size_t bytes = to.size();
  watch(to, {}, bytes);
  count_written(to);
  const bool in_node = &in_.rank_at(one.on->of().from).node_ == &node_;
  if (one.zero_copy && !in_node) return;
  const picoseconds begins = local();
  if (goes_through_memory(one)) {
    charge_copy(bytes, level_of(to), level::other_core);
  } else if (in_.options().one_process) {
    charge_copy(bytes, level_of(to), buffers_);
  } else {
    charge_kernel_copy(bytes);
  }
  if (in_.trace() != nullptr) in_.trace()->slice(number_, "take", begins, local(), bytes);
}

void rank::notice(const message& one) noexcept {
  const bool in_node = &in_.rank_at(one.on->of().from).node_ == &node_;
  if (!in_node) charge(in_.costs().receive);
}

void rank::send_credit(channel& on, std::uint64_t upto) noexcept {
  rank& sender = in_.rank_at(on.of().from);
  const bool in_node = &sender.node_ == &node_;
  const picoseconds takes = in_node ? in_.costs().flag : in_.costs().latency;
  in_.schedule(local() + in_.disturbed(takes), event::kind::credit, sender, &on, upto);
}

}  // namespace muster::sim
