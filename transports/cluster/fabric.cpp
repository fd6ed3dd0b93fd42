#include "transports/cluster/fabric.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include <muster/environment/environment.hpp>

namespace muster::cluster {
namespace {

std::vector<std::size_t> all_ranks(const job& of) {
  std::vector<std::size_t> all(of.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::size_t> ranks_here(const job& of, std::span<const std::size_t> members) {
  std::vector<std::size_t> here;
  std::ranges::copy_if(members, std::back_inserter(here),
                       [&](std::size_t rank) { return of.is_here(rank); });
  return here;
}

std::vector<std::size_t> places_of(const job& of, std::span<const std::size_t> here) {
  std::vector<std::size_t> places;
  for (const std::size_t rank : here) places.push_back(of.place_of(rank));
  return places;
}

std::size_t place_among(std::span<const std::size_t> members, std::size_t rank) {
  return static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
}

void report(std::size_t rank, const wire::traffic& counted) noexcept {
  const auto number = [](std::uint64_t one) { return static_cast<unsigned long long>(one); };
  std::fprintf(
      stderr,
      "muster: rank %zu: %llu queue pairs, %llu at once at most (%llu made, %llu recycled, "
      "%llu lost); %llu sends posted, %llu of them again, by %llu doorbells; %llu bytes\n",
      rank, number(counted.queue_pairs), number(counted.most_queue_pairs), number(counted.made),
      number(counted.recycled), number(counted.lost), number(counted.requests),
      number(counted.repeated), number(counted.doorbells), number(counted.bytes));
}

}  // namespace

// ---- what a rank's fabrics share

rank_memory::rank_memory(const job& of, std::size_t rank,
                         std::unique_ptr<stream::remote_ranks> others)
    : job_(of),
      rank_(rank),
      buffers_(of.here().arena(0, of.place_of(rank_))),
      boards_(of.here().boards(of.place_of(rank_))),
      controls_(of.here().controls(of.place_of(rank_))),
      here_(of.here(), of.place_of(rank_), of.ranks_here()),
      others_(std::move(others)),
      news_(of, rank_, *others_),
      connections_(of.size(), {&here_, others_.get()}, &news_) {
  news_.speak_through(connections_);
}

void rank_memory::leave() noexcept {
  // relaxed: nothing of it is read. Where the job is broken nobody may wait for what is on its way.
  const bool broken =
      job_.here().failure_state().load(std::memory_order_relaxed) != shm::failure_record::whole;
  others_->leave(connections_, news_.farewell(), broken);
  const wire::traffic counted = traffic();
  if (counted.made != 0 && environment::read(environment::traffic) != nullptr) {
    report(rank_, counted);
  }
}

// ---- a fabric

fabric::fabric(rank_memory& own)
    : fabric(own, {.members = all_ranks(own.job_),
                   .team = 0,
                   .shared = own.job_.here().team(),
                   .board = own.job_.here().board(0),
                   .board_allocation = nullptr}) {}

fabric::fabric(rank_memory& own, shm::team_view in)
    : wire::fabric({.memory = &memory_,
                    .links = &links_,
                    .members = &membership_,
                    .source = &own.connections_}),
      own_(own),
      members_(std::move(in.members)),
      here_(ranks_here(own.job_, members_)),
      places_(places_of(own.job_, here_)),
      shared_(in.shared),
      board_allocation_(in.board_allocation),
      memory_({own.job_.here(), own.job_.place_of(own.rank_), places_, places_, own.buffers_,
               own.here_.parking()},
              in.board),
      links_(own.connections_, in.team, members_, place_among(members_, own.rank_),
             in.board.extent().link_lanes()),
      membership_(own.job_, shared_,
                  {.team = in.team,
                   .members = members_,
                   .here = here_,
                   .rank = place_among(members_, own.rank_),
                   .index = place_among(here_, own.rank_)},
                  in.board.extent(),
                  {own.here_.parking(), own.connections_, *own.others_, own.news_}) {}

fabric::~fabric() {
  if (board_allocation_ == nullptr || own_.job_.here().is_inherited()) return;
  tell_before_leaving();
  if (membership_.broken()) links_.expect_more();
  shm::shared_allocations::release(board_allocation_, [] {});
  shm::shared_allocations::release(shared_.base(), [] {});
}

// ---- teams made from this one

std::vector<std::size_t> fabric::local_peers(std::span<const std::size_t> members) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (own_.job_.is_here(members_[members[i]])) result.push_back(i);
  }
  return result;
}

wire::memory_handle fabric::provide(std::span<const std::size_t> members, std::size_t turn,
                                    const wire::extent& much) {
  const auto falls_to_me = [&](std::size_t member) {
    return members_[members[member]] == own_.rank_;
  };
  const std::vector<std::size_t> near = local_peers(members);
  wire::memory_handle mine;
  if (falls_to_me(turn % members.size())) {
    mine.team = (std::uint64_t{own_.rank_} + 1) << 32 | ++own_.teams_;
  }
  if (!falls_to_me(near[turn % near.size()])) return mine;
  const shm::job& here = own_.job_.here();
  const std::size_t control = shm::team_memory::bytes(near.size(), much);
  const std::size_t board = sizeof(shm::allocation_head) + wire::board::bytes(near.size(), much);
  mine.control = static_cast<std::uint64_t>(own_.controls_.allocate(control, near.size()).data() -
                                            here.control_base());
  try {
    mine.board = static_cast<std::uint64_t>(own_.boards_.allocate(board, near.size()).data() -
                                            here.node_base(0));
  } catch (...) {
    withdraw(mine);
    throw;
  }
  return mine;
}

void fabric::withdraw(const wire::memory_handle& provided) noexcept {
  const shm::job& here = own_.job_.here();
  if (provided.control != 0) own_.controls_.withdraw(here.control_base() + provided.control);
  if (provided.board != 0) own_.boards_.withdraw(here.node_base(0) + provided.board);
}

std::unique_ptr<wire::fabric> fabric::derive(std::span<const std::size_t> members,
                                             std::span<const wire::memory_handle> handles,
                                             const wire::extent& much) {
  std::vector<std::size_t> ranks;
  for (const std::size_t member : members) ranks.push_back(members_[member]);
  const auto [control, board, team] = find_allocations(members, handles);
  shm::team_view in = {
      .members = std::move(ranks),
      .team = team,
      .shared = shm::team_memory(control),
      .board = {board + sizeof(shm::allocation_head), local_peers(members).size(), much},
      .board_allocation = board};
  return std::unique_ptr<fabric>(new fabric(own_, std::move(in)));
}

void fabric::refuse(std::span<const std::size_t> members,
                    std::span<const wire::memory_handle> handles, const wire::extent&,
                    const wire::failure& why) noexcept {
  const auto [control, board, team] = find_allocations(members, handles);
  own_.connections_.dismiss(team, true);
  const shm::team_memory shared(control);
  shared.failure().write(why);
  std::vector<std::size_t> ranks;
  for (const std::size_t member : members) ranks.push_back(members_[member]);
  for (const std::size_t rank : ranks_here(own_.job_, ranks)) {
    doorbell::ring(own_.job_.here().bell(own_.job_.place_of(rank)));
  }
  own_.news_.tell_failure(team, ranks, why);
  shm::shared_allocations::release(board, [] {});
  shm::shared_allocations::release(control, [] {});
}

shm::team_lots fabric::find_allocations(
    std::span<const std::size_t> members,
    std::span<const wire::memory_handle> handles) const noexcept {
  std::uint64_t control = 0;
  std::uint64_t board = 0;
  std::uint64_t team = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    team |= handles[i].team;  // one of them is not 0
    if (!own_.job_.is_here(members_[members[i]])) continue;
    control |= handles[i].control;  // and of these one
    board |= handles[i].board;
  }
  const shm::job& here = own_.job_.here();
  return {here.control_base() + control, here.node_base(0) + board, team};
}

wire::footprint fabric::footprint() const noexcept {
  const wire::board& board = memory_.board();
  const wire::extent& much = board.extent();
  return {.memory = wire::board::bytes(board.ranks(), much) / board.ranks() +
                    shm::team_memory::bytes(here_.size(), much) / here_.size(),
          .links = board_allocation_ == nullptr ? own_.others_->most_bytes() : 0};
}

}  // namespace muster::cluster
