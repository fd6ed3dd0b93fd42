#include "transports/sim/team.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "transports/sim/simulation.hpp"

namespace muster::sim {

team_memory::team_memory(simulation& in, std::uint64_t number, std::vector<std::size_t> members,
                         const wire::extent& much)
    : in_(in), number_(number), members_(std::move(members)), much_(much) {
  std::map<std::size_t, std::size_t> ranks_on;
  for (const std::size_t rank : members_) ++ranks_on[in_.shape().node_of(rank)];
  constexpr std::size_t page = 4096;
  const std::size_t records = much_.lanes * members_.size() * sizeof(wire::call_record);
  std::size_t end = (records + page - 1) / page * page;
  for (const auto& [node, ranks] : ranks_on) {
    boards_.push_back({.node = node,
                       .ranks = ranks,
                       .offset = end,
                       .failure = std::make_unique<failure_record>()});
    end += wire::board::bytes(ranks, much_);
  }
  memory_.emplace(end);
  for (const node_board& each : boards_) in_.node_at(each.node).add(board_on(each.node));
}

team_memory::~team_memory() {
  if (happens_before* const order = in_.order()) order->forget({memory_->data(), memory_->size()});
  for (const node_board& each : boards_) in_.node_at(each.node).remove(board_on(each.node));
}

wire::call_record* team_memory::records() const noexcept {
  return reinterpret_cast<wire::call_record*>(memory_->data());
}

wire::board team_memory::board_on(std::size_t node) const noexcept {
  const auto here = std::ranges::find(boards_, node, &node_board::node);
  return {memory_->data() + here->offset, here->ranks, much_};
}

bool team_memory::is_on(std::size_t node) const noexcept {
  return std::ranges::find(boards_, node, &node_board::node) != boards_.end();
}

failure_record& team_memory::failure_on(std::size_t node) noexcept {
  return *std::ranges::find(boards_, node, &node_board::node)->failure;
}

void team_memory::end() noexcept {
  for (const node_board& each : boards_) each.failure->end();
}

bool team_memory::leave(picoseconds quiet) noexcept {
  quiet_at_ = std::max(quiet_at_, quiet);
  return ++left_ == members_.size();
}

}  // namespace muster::sim
