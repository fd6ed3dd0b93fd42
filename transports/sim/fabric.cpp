// How a rank reaches the members of a team.

#include "transports/sim/fabric.hpp"

#include <algorithm>
#include <utility>

#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"
#include "transports/sim/team.hpp"

namespace muster::sim {

// ---- node_memory

void node_memory::announce_and_wake(wire::counter& word, std::uint64_t value) noexcept {
  rank_.announce(word, value);
}
wire::origin node_memory::lend(std::span<const std::byte> bytes, bool foreign) const noexcept {
  return rank_.lend(bytes, foreign);
}
const std::byte* node_memory::borrow(const wire::origin& from) const noexcept {
  if (from.where == wire::origin::kind::foreign) return nullptr;
  return reinterpret_cast<const std::byte*>(from.address);
}
int node_memory::fetch(std::size_t, const wire::origin& from, std::size_t offset,
                       std::span<std::byte> to) noexcept {
  rank_.fetch(reinterpret_cast<const std::byte*>(from.address) + offset, to);
  return 0;
}
std::span<std::byte> node_memory::allocate(std::size_t bytes, use what) {
  return rank_.allocate(bytes, what == use::shared_scratch);
}
void node_memory::deallocate(std::span<std::byte> memory) noexcept { rank_.deallocate(memory); }

// ---- membership

namespace {

std::size_t self_in(const rank& of, const team_memory* shared) noexcept {
  if (shared == nullptr) return of.number();
  const auto& members = shared->members();
  return static_cast<std::size_t>(std::ranges::find(members, of.number()) - members.begin());
}

std::size_t size_of(simulation& in, const team_memory* shared) noexcept {
  return shared == nullptr ? in.shape().size() : shared->members().size();
}

wire::call_record* records_of(simulation& in, const team_memory* shared) noexcept {
  return shared == nullptr ? in.records() : shared->records();
}

std::size_t node_of(const rank& of, simulation& in) noexcept {
  return in.shape().node_of(of.number());
}

failure_record& record_of(const rank& of, simulation& in, team_memory* shared) noexcept {
  const std::size_t node = node_of(of, in);
  return shared == nullptr ? in.node_at(node).failure : shared->failure_on(node);
}

}  // namespace

membership::membership(rank& of, simulation& in, team_memory* shared) noexcept
    : wire::membership({.failure = &record_of(of, in, shared).word(),
                        .job_failure = shared != nullptr && shared->is_of_survivors() &&
                                               !in.has(defect::survivors_break)
                                           ? nullptr
                                           : &record_of(of, in, nullptr).word(),
                        .records = records_of(in, shared),
                        .rank = self_in(of, shared),
                        .ranks = size_of(in, shared)}),
      rank_(of),
      in_(in),
      shared_(shared) {}

std::size_t membership::node() const noexcept { return node_of(rank_, in_); }
std::uint64_t membership::team() const noexcept {
  return shared_ == nullptr ? 0 : shared_->number();
}

std::optional<wire::failure> membership::failed() const {
  const auto& why = record_of(rank_, in_, shared_).why();
  return why || !fails_with_job() ? why : record_of(rank_, in_, nullptr).why();
}

void membership::fail(const wire::failure& why) noexcept {
  if (rank_.is_dead() || in_.is_ending()) return;
  if (!broken()) {
    in_.break_on(node(), team(), why);
  } else if (in_.has(defect::told_by_finder)) {
    return;
  }
  pass_failure_on();
  if (fails_with_job()) rank_.fabric().pass_failure_on();
}

void membership::pass_failure_on() noexcept {
  const auto& why = record_of(rank_, in_, shared_).why();
  if (!why || rank_.is_dead() || in_.is_ending() || std::exchange(has_told_, true)) return;
  in_.tell_failure(rank_.number(), team(), *why);
}

wire::liveness membership::state(std::size_t rank) const noexcept {
  return in_.state(rank_.number(), shared_ == nullptr ? rank : shared_->members()[rank]);
}
bool membership::all_heard(std::size_t rank) const noexcept {
  return in_.all_heard(shared_ == nullptr ? rank : shared_->members()[rank]);
}
wire::recorded_call membership::called(std::size_t lane, std::size_t rank) const noexcept {
  return read(records_of(in_, shared_)[lane * size_of(in_, shared_) + rank]);
}

// ---- fabric

fabric::fabric(rank& of, simulation& in, team_memory* shared, const wire::board& board)
    : wire::fabric({.memory = &memory_, .links = &links_, .members = &members_, .time = this}),
      rank_(of),
      in_(in),
      shared_(shared),
      self_(self_in(of, shared)),
      memory_(of, board),
      links_(in, of, shared),
      members_(of, in, shared) {}

fabric::fabric(rank& of, simulation& in)
    : fabric(of, in, nullptr, in.node_at(in.shape().node_of(of.number())).board()) {}

fabric::fabric(rank& of, simulation& in, team_memory& shared)
    : fabric(of, in, &shared, shared.board_on(in.shape().node_of(of.number()))) {}

fabric::~fabric() {
  if (shared_ == nullptr) return;
  members_.pass_failure_on();
  in_.leave(*shared_, rank_.quiet_at());
}

std::size_t fabric::in_job(std::size_t member) const noexcept {
  return shared_ == nullptr ? member : shared_->members()[member];
}
std::size_t fabric::size() const noexcept { return size_of(in_, shared_); }

// ---- teams made from this one

namespace {

std::uint64_t number_in(std::span<const wire::memory_handle> handles) noexcept {
  std::uint64_t number = 0;
  for (const wire::memory_handle& each : handles) number |= each.control;  // one of them is not 0
  return number;
}

}  // namespace

wire::memory_handle fabric::provide(std::span<const std::size_t> members, std::size_t turn,
                                    const wire::extent& much) {
  if (in_job(members[turn % members.size()]) != rank_.number()) return {};
  std::vector<std::size_t> ranks;
  ranks.reserve(members.size());
  for (const std::size_t member : members) ranks.push_back(in_job(member));
  return {.control = in_.make_team(std::move(ranks), much)};
}

void fabric::withdraw(const wire::memory_handle& provided) noexcept {
  if (provided.control != 0) in_.unmake_team(provided.control);
}

std::unique_ptr<wire::fabric> fabric::derive(std::span<const std::size_t>,
                                             std::span<const wire::memory_handle> handles,
                                             const wire::extent&) {
  return std::make_unique<fabric>(rank_, in_, in_.team_at(number_in(handles)));
}

void fabric::refuse(std::span<const std::size_t>, std::span<const wire::memory_handle> handles,
                    const wire::extent&, const wire::failure& why) noexcept {
  team_memory& shared = in_.team_at(number_in(handles));
  const std::size_t node = node_of(rank_, in_);
  if (!rank_.is_dead() && !in_.is_ending() && !shared.failure_on(node).why()) {
    in_.break_on(node, shared.number(), why);
    in_.tell_failure(rank_.number(), shared.number(), why);
  }
  in_.leave(shared, rank_.quiet_at());
}

wire::footprint fabric::footprint() const noexcept {
  const wire::board& board = memory_.board();
  const wire::extent& much = board.extent();
  return {.memory = wire::board::bytes(board.ranks(), much) / board.ranks() +
                    much.lanes * sizeof(wire::call_record),
          .links = much.link_lanes() * kinds_of_channel * (size() - 1) * wire::link::capacity};
}

// ---- time

void fabric::begin(std::uint64_t sequence, const arguments& call,
                   std::string_view algorithm) noexcept {
  rank_.begin_operation({self_, size(), shared_ == nullptr ? 0 : shared_->number()}, sequence, call,
                        algorithm);
}
void fabric::end(std::uint64_t sequence, const arguments& call) noexcept {
  rank_.end_operation({self_, size(), shared_ == nullptr ? 0 : shared_->number()}, sequence,
                      memory_.board().lane_of(sequence), call);
}
void fabric::copy(std::span<std::byte> to, const std::byte* from) noexcept { rank_.copy(to, from); }
void fabric::combine(const arguments& call, std::byte* to, std::span<const std::byte* const> from,
                     std::size_t count) {
  rank_.combine(call, to, from, count);
}
void fabric::read_flag(const void* flag) noexcept { rank_.read_flag(flag); }
bool fabric::take_line(const void* flag) noexcept { return rank_.take_line(flag); }
bool fabric::carries_payload() const noexcept { return in_.with_payload(); }
bool fabric::busy() const noexcept { return rank_.busy(); }
void fabric::resume_when_done(std::coroutine_handle<> next) noexcept {
  rank_.resume_when_done(next);
}

}  // namespace muster::sim
