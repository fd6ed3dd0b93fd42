#include "transports/sim/rank.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/collective/combine.hpp"
#include "transports/sim/channel.hpp"
#include "transports/sim/core.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

rank::rank(simulation& in, std::size_t number, node& on, core& by)
    : wire::fabric({.board = on.board(),
                    .records = in.records(),
                    .ranks = in.shape().size(),
                    .failure = &in.failure_word(),
                    .time = this}),
      in_(in),
      number_(number),
      node_(on),
      core_(by),
      engine_({.mode = progress::external, .waiting = waiting_policy::asleep(), .clock = this},
              doorbell::none()),
      team_(engine_, *this, in.shape(), number, in.rows(), in.machine()),
      awake_for_(in.awake_for(number)),
      sent_to_(in.shape().size()),
      received_from_(in.shape().size()) {}

// What is still suspended in local work would not hear that it is to stop: it goes on to its next
// wait first.
void rank::stop() noexcept {
  while (working_) {
    std::exchange(working_, {}).resume();
    if (working_ || also_working_.empty()) continue;
    working_ = also_working_.back();
    also_working_.pop_back();
  }
  engine_.stop();
}

// ---- its own time

picoseconds rank::local() const noexcept { return std::max(in_.now(), core_.free()); }

void rank::charge(picoseconds time) noexcept {
  core_.use_until(local() + time);
  counters_.working += time;
}

double rank::rate_of(level where) const noexcept {
  const model::memory_parameters& memory = in_.model().memory;
  switch (where) {
    case level::core:
      return memory.core_copy_gbs;
    case level::other_core:
      return memory.other_core_gbs;
    case level::cache:
      return memory.cache_copy_gbs;
    default:
      return memory.core_memory_gbs;
  }
}

rank::level rank::level_read(const std::byte* from) const noexcept {
  return node_.is_shared(from) ? stages_ : buffers_;
}
rank::level rank::level_written(const std::byte* to) const noexcept {
  return node_.is_shared(to) ? stages_ : buffers_;
}

void rank::charge_side(std::size_t bytes, level where) noexcept {
  const picoseconds begins = local();
  picoseconds ends = begins + transfer_time(bytes, 2 * rate_of(where));
  if (where == level::memory) {
    const double all = 2 * in_.model().memory.node_memory_gbs;
    ends = std::max(ends, node_.use_memory(begins, bytes, all));
  }
  charge(ends - begins);
}

void rank::charge_copy(std::size_t bytes, level to, level from) noexcept {
  charge(in_.costs().copy_call);
  charge_side(bytes, from);
  charge_side(bytes, to);
}

// A core has several such lines on their way at once, where it need not wait in between.
void rank::charge_line() noexcept {
  constexpr picoseconds at_once = 4;
  charge(lines_++ == 0 ? first_line_ : first_line_ / at_once);
}

// What fits where: all that comes round before the same bytes are used again.
void rank::set_levels(const arguments& call) noexcept {
  const bool block_a_rank = call.what == collective::allgather || call.what == collective::alltoall;
  const std::size_t contributed =
      call.bytes() * (call.what == collective::alltoall ? team_.size() : 1);
  const std::size_t received = call.bytes() * (block_a_rank ? team_.size() : 1);
  const auto level_of = [this](std::size_t bytes) {
    const model::memory_parameters& memory = in_.model().memory;
    if (bytes * node_.ranks.size() > memory.cache_bytes) return level::memory;
    return bytes * core_.ranks() > memory.core_cache_bytes ? level::cache : level::core;
  };
  buffers_ = level_of((contributed + received) * in_.options().buffers_in_turn);
  // A stage goes back and forth between its writer's core and its readers'.
  stages_ = level_of(std::min(contributed, wire::long_stage_bytes));
  const std::size_t all = node_.ranks.size();
  const std::size_t elsewhere = all - core_.ranks();
  if (stages_ == level::core && elsewhere != 0) stages_ = level::other_core;
  // A line that a rank of this core wrote is here.
  first_line_ = elsewhere == 0 ? 0
                               : in_.costs().flag * static_cast<picoseconds>(elsewhere) /
                                     static_cast<picoseconds>(all - 1);
}

clock_time rank::now() const noexcept { return to_clock(local()); }

// One event for the earliest deadline, though every wait that is begun anew tells its own again.
void rank::expect(clock_time deadline) noexcept {
  const picoseconds when = std::max(in_.now(), from(deadline));
  if (when >= next_deadline_) return;
  next_deadline_ = when;
  in_.schedule(when, event::kind::deadline, *this);
}

void rank::meet_deadline() noexcept {
  if (in_.now() != next_deadline_) return;  // an earlier one came in between, and then another
  to_check_ = true;
  wake();
}

void rank::check_reasons_to_end(bool& moved) {
  moved = engine_.resume_interrupted(true) || moved;
  if (next_deadline_ > in_.now()) return;
  next_deadline_ = never;
  if (const auto left = engine_.sleep_limit()) expect(engine_.now() + *left);
}

rank::pause rank::rest(clock_time time) noexcept { return {*this, local() + from(time)}; }
bool rank::pause::ready() noexcept { return of_.in_.now() >= until_; }
void rank::pause::wake_later() noexcept { of_.in_.schedule(until_, event::kind::run, of_); }

rank::meeting rank::meet() noexcept { return meeting(*this); }
rank::meeting::meeting(rank& of) noexcept : of_(of), number_(of.in_.come_to_meeting(of.local())) {}
bool rank::meeting::ready() noexcept { return of_.in_.is_met(number_); }

wire::work_wait rank::compute(clock_time time) noexcept {
  charge(from(time));
  return wire::work_wait(this);
}

// ---- wire::virtual_time

void rank::begin(std::uint64_t sequence, const arguments& call,
                 std::string_view algorithm) noexcept {
  ++operations_;
  set_levels(call);
  if (in_.trace() != nullptr) {
    in_.trace()->operation_begins(number_, name(call.what), algorithm, sequence, local());
  }
  charge(in_.costs().call);
}

void rank::end(std::uint64_t sequence, const arguments& call) noexcept {
  --operations_;
  registered_ &= ~(std::uint64_t{1} << sequence % wire::lanes);
  if (in_.trace() != nullptr) {
    in_.trace()->operation_ends(number_, name(call.what), sequence, local());
  }
}

bool rank::carries_payload() const noexcept { return in_.with_payload(); }

void rank::count_copy(std::span<const std::byte> to, const std::byte* from) noexcept {
  if (node_.is_shared(to.data())) {
    counters_.shared_written += to.size();
    counters_.stage_memory += node_.touch(to);
  }
  if (node_.is_shared(from)) counters_.shared_read += to.size();
}

void rank::copy(std::span<std::byte> to, const std::byte* from) noexcept {
  if (to.empty()) return;
  if (in_.with_payload()) std::memcpy(to.data(), from, to.size());
  count_copy(to, from);
  const picoseconds begins = local();
  // The first line has to travel, the others follow it closely; a flag has brought its own along.
  if (node_.is_stage(from)) charge_line();
  charge_copy(to.size(), level_written(to.data()), level_read(from));
  if (in_.trace() == nullptr) return;
  const char* what = node_.is_shared(to.data()) ? "copy in"
                     : node_.is_shared(from)    ? "copy out"
                                                : "copy";
  in_.trace()->slice(number_, what, begins, local(), to.size());
}

void rank::combine(const arguments& call, std::byte* to, std::span<const std::byte* const> from,
                   std::size_t count) noexcept {
  if (in_.with_payload()) muster::combine(call.op, call.type, to, from, count);
  const std::size_t bytes = count * call.element();
  for (const std::byte* each : from) {
    if (node_.is_shared(each)) counters_.shared_read += bytes;
  }
  if (node_.is_shared(to)) {
    counters_.shared_written += bytes;
    counters_.stage_memory += node_.touch({to, bytes});
  }
  const picoseconds begins = local();
  const std::size_t combined = bytes * std::max<std::size_t>(from.size() - 1, 1);
  charge(in_.costs().copy_call);
  // Arithmetic and memory overlap: the slower of the two counts.
  const picoseconds arithmetic = local() + transfer_time(combined, in_.model().memory.combine_gbs);
  if (node_.is_stage(from.back())) charge_line();
  for (const std::byte* each : from) charge_side(bytes, level_read(each));
  charge_side(bytes, level_written(to));
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
  in_.schedule(core_.free(), event::kind::work_done, *this);
}

// ---- wire::fabric

void rank::announce(wire::counter& word, std::uint64_t value) noexcept {
  ++counters_.announcements;
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

const std::byte* rank::borrow(const wire::origin& from) const noexcept {
  if (from.where == wire::origin::kind::foreign) return nullptr;
  return reinterpret_cast<const std::byte*>(from.address);
}

int rank::fetch(std::size_t, const wire::origin& from, std::size_t offset,
                std::span<std::byte> to) noexcept {
  const auto* source = reinterpret_cast<const std::byte*>(from.address) + offset;
  if (in_.with_payload()) std::memcpy(to.data(), source, to.size());
  const model::memory_parameters& memory = in_.model().memory;
  const picoseconds begins = local();
  charge(from_ns(memory.kernel_copy_call_ns) + transfer_time(to.size(), memory.kernel_copy_gbs));
  if (in_.trace() != nullptr) {
    in_.trace()->slice(number_, "kernel copy", begins, local(), to.size());
  }
  return 0;
}

wire::channel& rank::open(std::size_t lane, std::size_t from, std::size_t to) {
  return in_.open({lane, from, to});
}

void rank::close(wire::channel& used) noexcept { in_.close(static_cast<channel&>(used)); }

wire::liveness rank::state(std::size_t rank) const noexcept { return in_.state(rank); }
std::optional<wire::failure> rank::failed() const { return in_.failure(); }
void rank::fail(const wire::failure& why) noexcept {
  if (!dead_) in_.break_job(why);
}

// ---- messages

void rank::post(message& one) noexcept {
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
    charge_copy(body, level::other_core, buffers_);
    in_.schedule(local() + in_.disturbed(in_.costs().flag), event::kind::deliver, receiver, &one);
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
  } else if (one.bytes <= network.copy_to_bytes) {
    charge(transfer_time(one.bytes, memory.core_copy_gbs));
  } else {
    one.leaves_later = true;
    register_for(one);
  }
}

// Buffers stay registered: only those of the first operations, until they come round again, cost.
void rank::register_for(const message& one) noexcept {
  const std::uint64_t lane = std::uint64_t{1} << one.on->of().lane;
  if ((registered_ & lane) != 0) return;
  registered_ |= lane;
  if (registrations_++ >= in_.options().buffers_in_turn) return;
  const model::memory_parameters& memory = in_.model().memory;
  constexpr double page_bytes = 4096;
  charge(from_ns(memory.register_ns +
                 memory.register_page_ns * static_cast<double>(one.bytes) / page_bytes));
}

void rank::receive(std::size_t bytes) noexcept {
  const picoseconds begins = local();
  charge_copy(bytes, buffers_, level::other_core);
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

// ---- when it runs

bool rank::is_asleep() const noexcept {
  return !pending_ && !working_ && begun_ && in_.now() - idle_since_ > awake_for_;
}

void rank::wake() noexcept {
  if (over_ || dead_ || pending_) return;
  const bool asleep = is_asleep();
  pending_ = true;
  if (!working_) core_.request(*this, asleep);
}

void rank::run() noexcept {
  if (over_ || dead_ || working_) return;
  pending_ = true;
  core_.request(*this);
}

void rank::look() noexcept {
  const picoseconds began = in_.now();
  // Counted before its program goes on and reads it; taken back if there was nothing to go on for.
  const picoseconds waited = operations_ != 0 ? std::max<picoseconds>(began - idle_since_, 0) : 0;
  counters_.waiting += waited;
  pending_ = false;
  lines_ = 0;
  bool moved = !begun_;
  if (!begun_) begin_program();
  if (std::exchange(to_check_, false)) check_reasons_to_end(moved);
  while (!working_ && engine_.poll()) moved = true;
  if (moved) {
    in_.moved();
    if (in_.trace() != nullptr && began > idle_since_) {
      in_.trace()->slice(number_, "wait", idle_since_, began);
    }
    idle_since_ = local();
  } else {
    counters_.waiting -= waited;
  }
  if (working_) {
    pending_ = true;  // what it has not looked at yet
  } else {
    core_.release(*this);
  }
}

void rank::finish_work() noexcept {
  if (dead_) return core_.release(*this);
  std::exchange(working_, {}).resume();
  if (!working_ && !also_working_.empty()) {
    working_ = also_working_.back();
    also_working_.pop_back();
    in_.schedule(local(), event::kind::work_done, *this);
  }
  idle_since_ = local();
  if (!working_) look();
}

void rank::begin_program() noexcept {
  begun_ = true;
  program_ = start(engine_, run_program());
}

task<> rank::run_program() {
  try {
    co_await in_.rank_program()(*this);
  } catch (...) {
    failure_ = std::current_exception();
  }
  over_ = true;
  counters_.finished = local();
  in_.end_program(*this);
}

void rank::die() noexcept {
  dead_ = true;
  pending_ = false;
}

}  // namespace muster::sim
