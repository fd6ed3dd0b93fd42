// What a rank's local work costs: where bytes lie, and how long it takes to move and combine them.

#include <algorithm>
#include <cstring>
#include <string>

#include <muster/call/combine.hpp>

#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

picoseconds rank::side_time(std::size_t bytes, level where, side which) const noexcept {
  const model::memory_parameters& memory = in_.model().memory;
  switch (where) {
    case level::core:
      return transfer_time(bytes, 2 * memory.core_copy_gbs);
    case level::other_core:
      return transfer_time(bytes, 2 * memory.other_core_gbs);
    case level::cache:
      return transfer_time(bytes, 2 * memory.cache_copy_gbs);
    default:
      return transfer_time(bytes,
                           which == side::read ? memory.memory_read_gbs : memory.memory_write_gbs);
  }
}

// Shared scratch may be large: what was not used for as many bytes as the caches hold is in them no
// more.
rank::level rank::level_of(std::span<const std::byte> part) const noexcept {
  if (!node_.is_shared(part.data())) return buffers_;
  if (!node_.is_shared_scratch(part.data())) return stages_;
  const std::size_t since = node_.use_shared_scratch(part);
  const model::memory_parameters& memory = in_.model().memory;
  if (since > memory.cache_bytes) return level::memory;
  if (since > memory.core_cache_bytes * node_.ranks.size()) return level::cache;
  return node_.ranks.size() == core_.ranks() ? level::core : level::other_core;
}

void rank::charge_side(std::size_t bytes, level where, side which) noexcept {
  const picoseconds begins = local();
  picoseconds ends = begins + side_time(bytes, where, which);
  if (where == level::memory) {
    // Of a copy's three transfers two are the written side's: a line is fetched, then written back.
    const double share = which == side::read ? 3 : 1.5;
    const double all = share * in_.model().memory.node_memory_gbs;
    ends = std::max(ends, node_.use_memory(begins, bytes, all));
  }
  charge(ends - begins);
}

void rank::charge_copy(std::size_t bytes, level to, level from) noexcept {
  charge(in_.costs().copy_call);
  charge_side(bytes, from, side::read);
  charge_side(bytes, to, side::written);
}

// A core has several lines on their way at once, where it need not wait in between. What lies
// beside a flag came with it, if it was the last flag to come.
void rank::charge_line(const std::byte* from) noexcept {
  if (!node_.is_shared(from)) return;
  if (node_.is_stage(from)) fetch_line(from);
  constexpr picoseconds at_once = 4;
  const bool alone = node_.is_stage(from) && lines_++ == 0;
  charge(alone ? first_line_ : first_line_ / at_once);
}

void rank::read_flag(const void* flag) noexcept {
  if (happens_before* const order = in_.order()) order->read(number_, flag);
  fetch_line(flag);
}

// Others may want the same line at the same time.
void rank::fetch_line(const void* line) noexcept {
  const picoseconds each = in_.costs().line_read;
  if (each == 0) return;
  const picoseconds begins = local();
  charge(node_.read_line(line, in_.now(), begins, each) - begins);
}

// Done when it can be seen, unlike a store: that may wait for its line while the rank goes on.
bool rank::take_line(const void* flag) noexcept {
  if (in_.is_ending()) return false;
  const picoseconds trip = in_.disturbed(in_.costs().flag);
  charge(node_.take_line(flag, core_, local(), trip, last_visible_ + 1) - local());
  return local() > in_.now();
}

// What fits where: all that comes round before the same bytes are used again.
void rank::set_levels(const position& in, const arguments& call) noexcept {
  const bool receives = call.what != collective::bcast && call.receives(in.self);
  what_ = call.what;
  contributed_ = call.contributed_bytes(in.ranks);
  const std::size_t received = receives && !call.in_place() ? call.received_bytes(in.ranks) : 0;
  const auto level_of = [this](std::size_t bytes) {
    const model::memory_parameters& memory = in_.model().memory;
    if (bytes * node_.ranks.size() > memory.cache_bytes) return level::memory;
    return bytes * core_.ranks() > memory.core_cache_bytes ? level::cache : level::core;
  };
  buffers_ = level_of((contributed_ + received) * in_.options().buffers_in_turn);
  // A stage goes back and forth between its writer's core and its readers'.
  stages_ = level_of(std::min(contributed_, wire::long_stage_bytes));
  const std::size_t all = node_.ranks.size();
  const std::size_t elsewhere = all - core_.ranks();
  if (stages_ == level::core && elsewhere != 0) stages_ = level::other_core;
  // A line that a rank of this core wrote is here.
  first_line_ = elsewhere == 0 ? 0
                               : in_.costs().flag * static_cast<picoseconds>(elsewhere) /
                                     static_cast<picoseconds>(all - 1);
}

namespace {

/// An operation's number for the trace, among those of all teams.
std::uint64_t traced(const rank::position& in, std::uint64_t sequence) noexcept {
  return in.team << 32 | sequence;
}

}  // namespace

void rank::begin_operation(const position& in, std::uint64_t sequence, const arguments& call,
                           std::string_view algorithm) noexcept {
  ++operations_;
  lines_ = 0;
  set_levels(in, call);
  if (in_.trace() != nullptr) {
    in_.trace()->operation_begins(number_, name(call.what), algorithm, traced(in, sequence),
                                  local());
  }
  charge(in_.costs().call);
}

void rank::end_operation(const position& in, std::uint64_t sequence, std::size_t lane,
                         const arguments& call) noexcept {
  --operations_;
  registered_ &= ~(std::uint64_t{1} << lane);
  if (in_.trace() != nullptr) {
    in_.trace()->operation_ends(number_, name(call.what), traced(in, sequence), local());
  }
}

void rank::watch(std::span<const std::byte> to, std::span<const std::byte* const> from,
                 std::size_t bytes) {
  const happens_before* const order = in_.order();
  if (order == nullptr || in_.is_ending()) return;
  const auto known = [this, order](std::size_t rank) { return order->known(number_, rank); };
  for (const std::byte* each : from) {
    if (!node_.is_shared(each)) continue;
    const auto writer = node_.writes.premature({each, bytes}, number_, known);
    if (writer) in_.read_prematurely(number_, *writer, std::string(name(what_)));
  }
  if (node_.is_shared(to.data())) node_.writes.write(to, number_, order->announced(number_) + 1);
}

void rank::count_read(const std::byte* from, std::size_t bytes) noexcept {
  if (node_.is_shared(from)) counters_.shared_read += bytes;
}

void rank::count_written(std::span<const std::byte> to) noexcept {
  if (node_.is_shared(to.data())) counters_.shared_written += to.size();
  if (node_.is_stage(to.data())) counters_.stage_memory += node_.touch(to);
}

void rank::copy(std::span<std::byte> to, const std::byte* from) noexcept {
  if (to.empty()) return;
  if (in_.with_payload()) std::memcpy(to.data(), from, to.size());
  watch(to, {&from, 1}, to.size());
  count_read(from, to.size());
  count_written(to);
  const picoseconds begins = local();
  charge_line(from);
  charge_copy(to.size(), level_of(to), level_of({from, to.size()}));
  if (in_.trace() == nullptr) return;
  const char* what = node_.is_shared(to.data()) ? "copy in"
                     : node_.is_shared(from)    ? "copy out"
                                                : "copy";
  in_.trace()->slice(number_, what, begins, local(), to.size());
}

void rank::combine(const arguments& call, std::byte* to, std::span<const std::byte* const> from,
                   std::size_t count) {
  if (in_.with_payload()) muster::combine(call, to, from, count);
  const std::size_t bytes = count * call.element();
  watch({to, bytes}, from, bytes);
  for (const std::byte* each : from) count_read(each, bytes);
  count_written({to, bytes});
  const picoseconds begins = local();
  const std::size_t combined = bytes * std::max<std::size_t>(from.size() - 1, 1);
  charge(in_.costs().copy_call);
  // Arithmetic and memory overlap: the slower of the two counts.
  const picoseconds arithmetic = local() + transfer_time(combined, in_.model().memory.combine_gbs);
  const std::byte* next = nullptr;
  for (const std::byte* each : from) {
    // What follows in memory is on its way already.
    if (each != next) charge_line(each);
    next = each + bytes;
    charge_side(bytes, level_of({each, bytes}), side::read);
  }
  charge_side(bytes, level_of({to, bytes}), side::written);
  charge(std::max<picoseconds>(arithmetic - local(), 0));
  if (in_.trace() != nullptr) {
    in_.trace()->slice(number_, "combine", begins, local(), bytes * from.size());
  }
}

// Nobody can learn sooner than a flag travels what a rank does meanwhile: shorter work is charged
// without a word.
bool rank::busy() const noexcept {
  return core_.free() - in_.now() > in_.costs().flag && !in_.is_ending();
}

void rank::resume_when_done(std::coroutine_handle<> next) noexcept {
  if (working_) {
    also_working_.push_back(next);
    return;
  }
  working_ = next;
  in_.schedule(core_.free(), event::kind::work_done, number_);
}

}  // namespace muster::sim
