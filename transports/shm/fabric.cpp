#include "transports/shm/fabric.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace muster::shm {

namespace {

std::vector<std::size_t> all_ranks(const job& of) {
  std::vector<std::size_t> all(of.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::size_t> on_node_of(const job& of, std::size_t rank,
                                    std::span<const std::size_t> members) {
  std::vector<std::size_t> result;
  std::ranges::copy_if(members, std::back_inserter(result), [&](std::size_t other) {
    return of.shape().node_of(other) == of.shape().node_of(rank);
  });
  return result;
}

std::size_t place_among(std::span<const std::size_t> members, std::size_t rank) {
  return static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
}

}  // namespace

fabric::rank_memory::rank_memory(const job& of, std::size_t rank)
    : buffers(of.arena(of.shape().node_of(rank), of.shape().index_of(rank))),
      boards(of.boards(rank)),
      controls(of.controls(rank)),
      all(all_ranks(of)),
      here(of, rank, all),
      connections(of.size(), {&here}) {}

fabric::fabric(const job& of, std::size_t rank)
    : fabric(of, rank, std::make_shared<rank_memory>(of, rank),
             {.members = all_ranks(of),
              .team = 0,
              .shared = of.team(),
              .board = of.board(of.shape().node_of(rank)),
              .board_allocation = nullptr}) {}

fabric::fabric(const job& of, std::size_t rank, std::shared_ptr<rank_memory> own, team_view in)
    : wire::fabric({.memory = &memory_,
                    .links = &links_,
                    .members = &membership_,
                    .source = &own->connections}),
      job_(of),
      rank_(rank),
      members_(std::move(in.members)),
      node_(on_node_of(of, rank, members_)),
      own_(std::move(own)),
      shared_(in.shared),
      board_allocation_(in.board_allocation),
      memory_({of, rank, members_, node_, own_->buffers, own_->here.parking()}, in.board),
      links_(own_->connections, in.team, members_, place_among(members_, rank),
             in.board.extent().link_lanes()),
      membership_(of, shared_, members_, place_among(members_, rank), in.board.extent(),
                  {own_->connections, own_->here.parking()}) {}

fabric::~fabric() {
  if (board_allocation_ == nullptr || job_.is_inherited()) return;
  if (membership_.broken()) links_.expect_more();
  shared_allocations::release(board_allocation_, [] {});
  shared_allocations::release(shared_.base(), [] {});
}

// ---- teams made from this one

std::vector<std::size_t> fabric::local_peers(std::span<const std::size_t> members) const {
  const muster::shape& shape = job_.shape();
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (shape.node_of(members_[members[i]]) == shape.node_of(rank_)) result.push_back(i);
  }
  return result;
}

wire::memory_handle fabric::provide(std::span<const std::size_t> members, std::size_t turn,
                                    const wire::extent& much) {
  const auto falls_to_me = [&](std::size_t member) { return members_[members[member]] == rank_; };
  const std::vector<std::size_t> near = local_peers(members);
  wire::memory_handle mine;
  if (falls_to_me(turn % members.size())) {
    const std::size_t bytes = team_memory::bytes(members.size(), much);
    const std::byte* allocation = own_->controls.allocate(bytes, members.size()).data();
    mine.control = static_cast<std::uint64_t>(allocation - job_.control_base());
    mine.team = (std::uint64_t{rank_} + 1) << 32 | ++own_->teams;
  }
  if (falls_to_me(near[turn % near.size()])) {
    const std::size_t bytes = sizeof(allocation_head) + wire::board::bytes(near.size(), much);
    try {
      const std::byte* allocation = own_->boards.allocate(bytes, near.size()).data();
      mine.board = static_cast<std::uint64_t>(allocation - node_base());
    } catch (...) {
      withdraw(mine);
      throw;
    }
  }
  return mine;
}

void fabric::withdraw(const wire::memory_handle& provided) noexcept {
  if (provided.control != 0) own_->controls.withdraw(job_.control_base() + provided.control);
  if (provided.board != 0) own_->boards.withdraw(node_base() + provided.board);
}

std::unique_ptr<wire::fabric> fabric::derive(std::span<const std::size_t> members,
                                             std::span<const wire::memory_handle> handles,
                                             const wire::extent& much) {
  std::vector<std::size_t> ranks;
  for (const std::size_t member : members) ranks.push_back(members_[member]);
  const auto [control, board, team] = find_allocations(members, handles);
  team_view in = {.members = std::move(ranks),
                  .team = team,
                  .shared = team_memory(control),
                  .board = {board + sizeof(allocation_head), local_peers(members).size(), much},
                  .board_allocation = board};
  return std::unique_ptr<fabric>(new fabric(job_, rank_, own_, std::move(in)));
}

void fabric::refuse(std::span<const std::size_t> members,
                    std::span<const wire::memory_handle> handles, const wire::extent&,
                    const wire::failure& why) noexcept {
  const auto [control, board, team] = find_allocations(members, handles);
  own_->connections.dismiss(team, true);
  const team_memory shared(control);
  shared.failure().write(why);
  for (const std::size_t member : members) doorbell::ring(job_.bell(members_[member]));
  shared_allocations::release(board, [] {});
  shared_allocations::release(control, [] {});
}

team_lots fabric::find_allocations(std::span<const std::size_t> members,
                                   std::span<const wire::memory_handle> handles) const noexcept {
  const muster::shape& shape = job_.shape();
  std::uint64_t control = 0;
  std::uint64_t board = 0;
  std::uint64_t team = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    control |= handles[i].control;  // one of them is not 0
    team |= handles[i].team;        // the same one
    const bool near = shape.node_of(members_[members[i]]) == shape.node_of(rank_);
    if (near) board |= handles[i].board;  // and of these one
  }
  return {job_.control_base() + control, node_base() + board, team};
}

wire::footprint fabric::footprint() const noexcept {
  const wire::board& board = memory_.board();
  const wire::extent& much = board.extent();
  const std::size_t ranks = members_.size();
  return {.memory = wire::board::bytes(board.ranks(), much) / board.ranks() +
                    team_memory::bytes(ranks, much) / ranks,
          .links = board_allocation_ == nullptr ? ranks * (sizeof(ring) + job_.ring_bytes()) : 0};
}

}  // namespace muster::shm
