// Teams made from others: their memory, and how a rank reaches the others of one.

#include "transports/sim/team.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "transports/sim/rank.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::sim {

// ---- memory

team_memory::team_memory(simulation& in, std::uint64_t number, std::vector<std::size_t> members,
                         const wire::extent& much)
    : in_(in), number_(number), members_(std::move(members)), much_(much) {
  std::map<std::size_t, std::size_t> ranks_on;
  for (const std::size_t rank : members_) ++ranks_on[in_.shape().node_of(rank)];
  constexpr std::size_t page = 4096;
  const std::size_t records = much_.lanes * members_.size() * sizeof(wire::call_record);
  std::size_t end = (records + page - 1) / page * page;
  for (const auto& [node, ranks] : ranks_on) {
    boards_.push_back({.node = node, .ranks = ranks, .offset = end});
    end += wire::board::bytes(ranks, much_);
  }
  memory_.emplace(end);
  for (const node_board& each : boards_) in_.node_at(each.node).add(board_on(each.node));
}

team_memory::~team_memory() {
  for (const node_board& each : boards_) in_.node_at(each.node).remove(board_on(each.node));
}

wire::call_record* team_memory::records() const noexcept {
  return reinterpret_cast<wire::call_record*>(memory_->data());
}

wire::board team_memory::board_on(std::size_t node) const noexcept {
  const auto here = std::ranges::find(boards_, node, &node_board::node);
  return {memory_->data() + here->offset, here->ranks, much_};
}

bool team_memory::fail(const wire::failure& why) {
  if (failure_) return false;
  failure_ = why;
  failure_word_.store(1, std::memory_order_relaxed);
  return true;
}

bool team_memory::leave(picoseconds quiet) noexcept {
  quiet_at_ = std::max(quiet_at_, quiet);
  return ++left_ == members_.size();
}

// ---- reach

team_reach::team_reach(rank& of, simulation& in, team_memory& shared, std::size_t self)
    : wire::fabric({.board = shared.board_on(in.shape().node_of(of.number())),
                    .records = shared.records(),
                    .ranks = shared.members().size(),
                    .failure = &shared.failure_word(),
                    .job_failure = &in.failure_word(),
                    .time = this}),
      rank_(of),
      in_(in),
      shared_(shared),
      self_(self) {}

team_reach::~team_reach() { in_.leave(shared_, rank_.quiet_at()); }

void team_reach::announce(wire::counter& word, std::uint64_t value) noexcept {
  rank_.announce(word, value);
}
wire::origin team_reach::lend(std::span<const std::byte> bytes, bool foreign) const noexcept {
  return rank_.lend(bytes, foreign);
}
const std::byte* team_reach::borrow(const wire::origin& from) const noexcept {
  return rank_.borrow(from);
}
int team_reach::fetch(std::size_t rank, const wire::origin& from, std::size_t offset,
                      std::span<std::byte> to) noexcept {
  return rank_.fetch(shared_.members()[rank], from, offset, to);
}
wire::channel& team_reach::open(std::size_t lane, std::size_t from, std::size_t to,
                                wire::stream what) {
  return in_.open({.lane = lane,
                   .from = shared_.members()[from],
                   .to = shared_.members()[to],
                   .team = shared_.number(),
                   .what = what});
}
void team_reach::close(wire::channel& used) noexcept { rank_.close(used); }
std::span<std::byte> team_reach::allocate(std::size_t bytes, memory_use use) {
  return rank_.allocate(bytes, use);
}
void team_reach::deallocate(std::span<std::byte> memory) noexcept { rank_.deallocate(memory); }
wire::liveness team_reach::state(std::size_t rank) const noexcept {
  return in_.state(shared_.members()[rank]);
}

bool team_reach::all_heard(std::size_t rank) const noexcept {
  return in_.all_heard(shared_.members()[rank]);
}
std::optional<wire::failure> team_reach::failed() const {
  return shared_.failure() ? shared_.failure() : in_.failure();
}
void team_reach::fail(const wire::failure& why) noexcept {
  if (!rank_.is_dead()) in_.break_team(shared_, why);
}

// ---- teams made from this one

std::vector<std::size_t> team_reach::in_job(std::span<const std::size_t> members) const {
  std::vector<std::size_t> ranks;
  ranks.reserve(members.size());
  for (const std::size_t rank : members) ranks.push_back(shared_.members()[rank]);
  return ranks;
}
wire::site team_reach::provide(std::span<const std::size_t> members, std::size_t turn,
                               const wire::extent& much) {
  return rank_.provide(in_job(members), turn, much);
}
void team_reach::withdraw(const wire::site& provided) noexcept { rank_.withdraw(provided); }
std::unique_ptr<wire::fabric> team_reach::derive(std::span<const std::size_t> members,
                                                 std::span<const wire::site> sites,
                                                 const wire::extent& much) {
  return rank_.derive(in_job(members), sites, much);
}

void team_reach::refuse(std::span<const std::size_t> members, std::span<const wire::site> sites,
                        const wire::extent& much, const wire::failure& why) noexcept {
  rank_.refuse(members, sites, much, why);
}

wire::footprint footprint_of(const wire::fabric& one, std::size_t ranks) noexcept {
  const wire::board& board = one.board();
  const wire::extent& much = board.extent();
  return {.memory = wire::board::bytes(board.ranks(), much) / board.ranks() +
                    much.lanes * sizeof(wire::call_record),
          .channels = much.channel_lanes() * wire::streams * (ranks - 1) * wire::channel::capacity};
}
wire::footprint team_reach::footprint() const noexcept {
  return footprint_of(*this, shared_.members().size());
}

// ---- time

void team_reach::begin(std::uint64_t sequence, const arguments& call,
                       std::string_view algorithm) noexcept {
  rank_.begin_operation({self_, shared_.members().size(), shared_.number()}, sequence, call,
                        algorithm);
}
void team_reach::end(std::uint64_t sequence, const arguments& call) noexcept {
  rank_.end_operation({self_, shared_.members().size(), shared_.number()}, sequence,
                      board().lane_of(sequence), call);
}
void team_reach::copy(std::span<std::byte> to, const std::byte* from) noexcept {
  rank_.copy(to, from);
}
void team_reach::combine(const arguments& call, std::byte* to,
                         std::span<const std::byte* const> from, std::size_t count) {
  rank_.combine(call, to, from, count);
}
void team_reach::fetch_line(const void* flag) noexcept { rank_.fetch_line(flag); }
bool team_reach::take_line(const void* flag) noexcept { return rank_.take_line(flag); }
bool team_reach::carries_payload() const noexcept { return rank_.carries_payload(); }
bool team_reach::busy() const noexcept { return rank_.busy(); }
void team_reach::resume_when_done(std::coroutine_handle<> next) noexcept {
  rank_.resume_when_done(next);
}

}  // namespace muster::sim
