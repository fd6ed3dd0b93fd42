// What it costs a rank to reach others: flags, lent memory, messages.

#include <algorithm>
#include <cstring>

#include "transports/sim/channel.hpp"
#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

void rank::announce(wire::counter& word, std::uint64_t value) noexcept {
  if (happens_before* const order = in_.order()) order->announce(number_);
  in_.say(number_);
  // Strictly one after the other: what a rank announces becomes visible in that order.
  const picoseconds visible = local() + in_.disturbed(in_.costs().flag);
  last_visible_ = std::max(visible, last_visible_ + 1);
  const bool in_order = !in_.has(defect::flags_overtake);
  in_.schedule(in_order ? last_visible_ : visible, event::kind::store, number_, &word, value);
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

bool rank::is_local_peer(std::size_t other) const noexcept {
  return in_.whereabouts_of(other).on == &node_;
}

sim::counters rank::counted() const noexcept {
  sim::counters all = counters_;
  all.channel_memory = in_.senders_to(number_) * channel::capacity;
  return all;
}

// In place: the receiver copies from the sender's buffer, if its kernel can, or they share it.
bool rank::goes_through_memory(const message& one) const noexcept {
  if (!one.zero_copy) return true;
  return !in_.options().one_process && in_.model().memory.kernel_copy_gbs == 0;
}

void rank::post(message& one) noexcept {
  constexpr std::size_t piece = channel::capacity / 2;
  const bool in_node = is_local_peer(one.to);
  const std::size_t body = one.bytes - one.head_bytes;
  const bool is_first = !sent_to_[one.to];
  if (is_first) {
    sent_to_[one.to] = true;
    in_.send_to_for_the_first_time(one.to);
  }
  const picoseconds begins = local();
  one.on->post();
  if (happens_before* const order = in_.order()) order->send(number_, one.number);
  in_.say(number_);
  if (in_node) {
    ++counters_.node_sends;
    counters_.node_bytes += body;
    if (goes_through_memory(one)) charge_copy(body, level::other_core, buffers_);
    picoseconds there = local();
    // A long one goes piece by piece: its receiver follows.
    if (one.zero_copy && body > piece) {
      there = begins + (there - begins) / static_cast<picoseconds>(body / piece);
    }
    in_.schedule(there + in_.disturbed(in_.costs().flag), event::kind::deliver, one.to, &one);
  } else {
    ++counters_.sends;
    counters_.sent_bytes += body;
    if (is_first) ++counters_.connections;
    charge_put(one);
    in_.schedule(local(), event::kind::transmit, number_, &one);
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
  if (one.zero_copy && !is_local_peer(one.from)) return;
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
  if (happens_before* const order = in_.order()) order->take(number_, one.number);
  if (!is_local_peer(one.from)) charge(in_.costs().receive);
}

void rank::send_credit(channel& on, std::uint64_t upto) noexcept {
  const std::size_t sender = on.of().from;
  const bool in_node = is_local_peer(sender);
  const picoseconds takes = in_.disturbed(in_node ? in_.costs().flag : in_.costs().latency);
  const picoseconds comes = in_node ? local() + takes : in_.passes(number_, sender, local(), takes);
  if (comes == outages::never) return;
  in_.say(number_);  // whoever waits for it has it before this rank is seen to have left
  in_.schedule(comes, event::kind::credit, sender, &on, upto);
}

}  // namespace muster::sim
