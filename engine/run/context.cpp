#include <muster/run/context.hpp>

#include <sched.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <muster/base/prefetch.hpp>
#include <muster/call/describe.hpp>
#include <muster/run/prepare.hpp>
#include <muster/select/recorded_call.hpp>

namespace muster {

context::context(team& of, const arguments& call, const prepared_call& prepared) noexcept
    : team_(of), call_(call), node_(of.node_), index_(of.node_index_), prepared_(prepared) {
  call_.how = prepared.how;
}

void context::prepare_by(std::string_view text) {
  prepared_ = prepare(team_, call_, team_.selector().find(call_.what, text));
  call_.how = prepared_.how;
}

void context::abandon_destroyed() noexcept {
  abandon(error(errc::stopped, describe() + ": destroyed before it ended", rank()));
}

namespace {

/// Instead of the algorithm where there is nothing to move: an operation like any other in the
/// team's order, that others see to be the same, and that ends at once.
task<> pass_by(context& me) {
  me.arrive();
  co_return;
}

}  // namespace

task<> context::run() {
  task<> part = prepared_.moves_nothing ? pass_by(*this) : prepared_.chosen->run(*this, call_);
  part.surround(*this);
  return part;
}

bool context::begin(const coroutine_place& place, std::coroutine_handle<> self) noexcept {
  if (!running_) {
    if (members().broken()) [[unlikely]] {
      refuse();
      if (refusal_ != nullptr) return true;
    }
    take_place();
  }
  if (lane_is_free()) return true;
  turn_.emplace(*this);
  if (turn_->await_ready()) return true;
  turn_->await_suspend(place, self);
  return false;
}

void context::refuse() noexcept {
  try {
    team_.require_whole();
  } catch (...) {
    refusal_ = std::current_exception();
  }
}

void context::enter() {
  if (refusal_ != nullptr) [[unlikely]] {
    std::rethrow_exception(std::exchange(refusal_, nullptr));
  }
  if (!turn_) return;
  turn_->await_resume();
  turn_.reset();
}

void context::end(const std::exception_ptr& failure) noexcept {
  if (failure == nullptr) [[likely]] {
    return complete();
  }
  turn_.reset();
  if (running_) abandon(failure);
}

bool context::has_arrived_once() noexcept {
  try {
    checks().complete(std::exchange(arrived_, false));
    return true;
  } catch (const error& why) {
    abandon(why);
    return false;
  }
}

void context::abandon(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const error& why) {
    abandon(why);
  } catch (const std::exception& why) {
    abandon(error(errc::resource, describe() + ": " + why.what(), rank()));
  } catch (...) {  // a reduction of the user's own may throw anything
    abandon(error(errc::resource, describe() + ": an exception of no known type", rank()));
  }
}

void context::take_place() noexcept {
  ticket_ = team_.order_.begin(prepared_.fingerprint, prepared_.stages);
  if (team_.arrivals_ != nullptr) [[unlikely]] {
    logged_ = team_.arrivals_->begin(team_, prepared_, call_, ticket_.sequence);
  }
  running_ = true;
  lane_ = &board().arrival(ticket_.lane, 0);
  write_record();
  wire::virtual_time* const time = this->time();
  if (time != nullptr) [[unlikely]] {
    time->begin(ticket_.sequence, call_, prepared_.chosen->id);
  }
  // Short results are written as they are, whatever their number.
  if (time == nullptr && ticket_.kind >= stage_kind::lengthy) {
    copy_to_result_ = team_.copies_to_results_.of(received_in_node());
  }
}

std::size_t context::received_in_node() const noexcept {
  const std::size_t receivers = call_.is_gather() ? 1 : node_.size();
  return call_.received_bytes(size()) * receivers;
}

void context::write_record() noexcept {
  write(members().own_record(ticket_.lane), {.word = ticket_.word,
                                             .kind = prepared_.kind,
                                             .count = prepared_.count,
                                             .root = call_.root,
                                             .details = prepared_.details});
}

bool context::lane_is_free() noexcept {
  const std::uint64_t after = ticket_.after;
  if (ticket_.kind == stage_kind::apart) {
    // Nothing that it touches is read by ranks it does not send to.
    return team_.order_.completed() >= after && team_.order_.is_complete(ticket_.last_apart);
  }
  if (after <= team_.known_complete_by_all_) return true;
  if (team_.order_.completed() < after) return false;
  std::uint64_t by_all = team_.order_.completed();
  for (std::size_t i = 0; i < node_.size(); ++i) {
    if (i == index_) continue;
    std::uint64_t& known = team_.known_complete_[i];
    // acquire: what they read is read before this rank overwrites it.
    if (known < after) known = board().completion(i).upto.load(std::memory_order_acquire);
    if (known < after) return false;
    by_all = std::min(by_all, known);
  }
  team_.known_complete_by_all_ = by_all;
  return true;
}

namespace {

// Far enough ahead for a line to come back from its last reader while operations go on.
constexpr std::size_t soon = 4;

}  // namespace

void context::arrive() {
  if (is_checked()) [[unlikely]]
    checks().arrive(std::exchange(arrived_, true));
  announce_arrival();
}

void context::announce_arrival() noexcept {
  wire::arrival& mine = arrival(index_);
  // relaxed: published by the announcement.
  mine.completed.store(team_.order_.completed(), std::memory_order_relaxed);
  memory().announce(mine.word, ticket_.word);
  // The line of an operation soon to come is still in the cache of whoever read it last; a store
  // that has to fetch it would hold up those after it.
  prefetch_to_write(&board().arrival(board().lane_of(ticket_.sequence + soon), index_));
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
  have_fetched(&first);
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
  checks().arrive(std::exchange(arrived_, true));
}

void context::publish(std::span<const std::byte> bytes) {
  if (is_checked()) [[unlikely]]
    check_publication(bytes.size());
  move_bytes(time(), {publication(index_, bytes.size()), bytes.size()}, bytes.data());
  announce_arrival();
  prepare_next_publication(bytes.size());
}

void context::publish(std::span<const std::byte> first, std::span<const std::byte> second) {
  const std::size_t bytes = first.size() + second.size();
  if (is_checked()) [[unlikely]]
    check_publication(bytes);
  std::byte* const place = publication(index_, bytes);
  move_bytes(time(), {place, first.size()}, first.data());
  move_bytes(time(), {place + first.size(), second.size()}, second.data());
  announce_arrival();
  prepare_next_publication(bytes);
}

void context::prefetch_next(std::size_t local_peer, std::size_t published) const noexcept {
  const std::size_t lane = board().lane_of(ticket_.sequence + 1);
  prefetch_to_read(&board().arrival(lane, local_peer));
  if (ticket_.kind == stage_kind::none) return;
  prefetch_to_read(staged(lane, local_peer, published));
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

void context::complete() noexcept {
  wire::virtual_time* const time = this->time();
  if (is_checked() && !has_arrived_once()) [[unlikely]]
    return;
  running_ = false;
  scratch_.clear();
  if (time != nullptr) [[unlikely]]
    time->end(ticket_.sequence, call_);
  memory().announce(board().completion(index_).upto, team_.order_.complete(ticket_.sequence));
  log_arrival(false);
}

void context::abandon(const error& why) noexcept {
  running_ = false;
  arrived_ = false;
  posted_.clear();
  if (wire::virtual_time* const time = this->time()) time->end(ticket_.sequence, call_);
  members().fail({.code = static_cast<errc>(why.code().value()),
                  .rank = why.rank(),
                  .text = "rank " + std::to_string(rank()) + ": " + why.text()});
  links().withdraw();
  memory().settle();
  log_arrival(true);
}

void context::throw_breakage() const {
  if (auto why = breakage_once_written()) std::rethrow_exception(why);
  throw error(errc::stopped, describe() + ": the team is being broken by another rank");
}

void context::add_lender(pipeline& one) noexcept {
  one.next_lender_ = std::exchange(lenders_, &one);
}

void context::forget_lender(const pipeline& one) noexcept {
  pipeline** at = &lenders_;
  while (*at != &one) at = &(*at)->next_lender_;
  *at = one.next_lender_;
}

std::string context::describe() const {
  return muster::describe(call_) + ", operation " + std::to_string(ticket_.sequence);
}

void context::throw_mismatch(std::size_t local_peer) const {
  if (auto why = mismatch(node_[local_peer])) throw *why;
  throw error(errc::mismatched_call,
              "rank " + std::to_string(node_[local_peer]) + " and rank " + std::to_string(rank()) +
                  " called different collectives before " + describe(),
              node_[local_peer]);
}

// The newest operation that both have begun tells: a fingerprint covers all calls before. It is one
// of the last, but for a rank that is far behind.
bool context::agrees(std::size_t other) const noexcept {
  const std::uint64_t lanes = board().extent().lanes;
  for (std::uint64_t back = 0; back < std::min(lanes, ticket_.sequence); ++back) {
    const std::size_t lane = board().lane_of(ticket_.sequence - back);
    const std::uint64_t mine = members().called(lane, rank()).word;
    const std::uint64_t theirs = members().called(lane, other).word;
    if (((mine ^ theirs) >> 32) == 0) return mine == theirs;
  }
  return true;
}

std::optional<error> context::mismatch(std::size_t other) const {
  if (agrees(other)) return std::nullopt;
  const std::uint64_t last = ticket_.sequence;
  const std::uint64_t lanes = board().extent().lanes;
  const std::uint64_t first = last > lanes ? last - lanes + 1 : 1;
  for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
    const std::size_t lane = board().lane_of(sequence);
    const auto mine = members().called(lane, rank());
    const auto theirs = members().called(lane, other);
    const auto expected = static_cast<std::uint32_t>(sequence);
    if (mine.sequence() != expected || theirs.sequence() != expected) continue;
    if (mine.is_like(theirs)) continue;
    std::string they_say = muster::describe(theirs);
    std::string i_say = muster::describe(mine);
    if (they_say == i_say) {  // perhaps something else was chosen by hand
      they_say += " by " + describe_choice(theirs, team_.selector().rows());
      i_say += " by " + describe_choice(mine, team_.selector().rows());
    }
    return error(errc::mismatched_call,
                 "operation " + std::to_string(sequence) + " is " + they_say + " on rank " +
                     std::to_string(other) + " but " + i_say + " on rank " +
                     std::to_string(rank()) +
                     (theirs.details != mine.details ? ", of other blocks or elements" : ""),
                 other);
  }
  return std::nullopt;
}

error context::left_out(std::size_t other, std::uint64_t its_sequence) const {
  std::string text = "operation " + std::to_string(ticket_.sequence) + " is " +
                     muster::describe(call_) + " on rank " + std::to_string(rank()) +
                     " but nobody of the node of rank " + std::to_string(other) +
                     " sent anything for it, and that rank did for operation " +
                     std::to_string(its_sequence);
  const auto theirs = members().called(ticket_.lane, other);
  if (theirs.sequence() == its_sequence) text += ", " + muster::describe(theirs);
  return {errc::mismatched_call, text, other};
}

error context::not_mutual(std::size_t other, std::uint64_t its_sequence) const {
  return {errc::mismatched_call,
          "what comes next to rank " + std::to_string(rank()) + " from rank " +
              std::to_string(other) + " is of operation " + std::to_string(its_sequence) + " in " +
              describe() + "; expected each to be a neighbor of the other, as often",
          other};
}

// What a rank says before it completes an operation has been heard by whoever sees it completed.
std::exception_ptr context::unanswered(std::size_t other) const {
  if (shape().node_of(other) != shape().node_of(rank())) return nullptr;
  // acquire: what that rank did in the operation comes before.
  const std::uint64_t completed =
      board().completion(shape().index_of(other)).upto.load(std::memory_order_acquire);
  if (completed < ticket_.sequence || !members().all_heard(other)) return nullptr;
  return std::make_exception_ptr(
      error(errc::mismatched_call,
            "rank " + std::to_string(rank()) + " has rank " + std::to_string(other) +
                " as a neighbor in " + describe() + ", which rank " + std::to_string(other) +
                " has completed without it; expected each to be a neighbor of the other, as often",
            other));
}

std::exception_ptr context::lost(std::size_t rank) const noexcept {
  // Its life first: what a rank called before it left is on record by then.
  const wire::liveness state = members().state(rank);
  if (const auto why = mismatch(rank)) return std::make_exception_ptr(*why);
  if (has_neighbors(call_.what)) {
    if (auto why = unanswered(rank)) return why;
  }
  if (state == wire::liveness::alive) return nullptr;
  if (state == wire::liveness::died) {
    return std::make_exception_ptr(
        error(errc::rank_died, "rank " + std::to_string(rank) + " died in or before " + describe(),
              rank));
  }
  return std::make_exception_ptr(
      error(errc::rank_left, "rank " + std::to_string(rank) + " left before " + describe(), rank));
}

std::exception_ptr context::breakage() const noexcept {
  const auto why = members().failed();
  if (!why) return nullptr;
  return std::make_exception_ptr(error(why->code, describe() + ": " + why->text, why->rank));
}

std::exception_ptr context::breakage_once_written() const noexcept {
  constexpr int most_polls = 10'000;  // one that died in the middle never has
  for (int look = 0; look < most_polls; ++look) {
    if (auto why = breakage()) return why;
    ::sched_yield();
  }
  return nullptr;
}

}  // namespace muster
