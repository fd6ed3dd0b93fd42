#include "algos/patterns/exchange/group_allgather.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <muster/coro/when_all.hpp>

#include "algos/patterns/exchange/simultaneous.hpp"

namespace muster::algos {
namespace {

/// A node's ranks in groups that follow each other and are as equal as can be; the first rank of
/// each leads it.
class node_groups {
public:
  node_groups(const gathered_blocks& in, std::size_t node, std::size_t most)
      : in_(in), ranks_(in.me.shape().ranks_of(node)), count_(std::min(most, ranks_.size())) {}

  std::size_t count() const noexcept { return count_; }
  /// The index of a group's first rank in its node; of the last one's successor, their number.
  std::size_t begin(std::size_t group) const noexcept { return group * ranks_.size() / count_; }
  std::size_t leader(std::size_t group) const noexcept { return ranks_[begin(group)]; }
  std::span<std::byte> blocks(std::size_t group) const noexcept {
    return in_.slots.of_ranks(in_.shared, leader(group), begin(group + 1) - begin(group));
  }
  std::optional<std::size_t> led_by(std::size_t index) const noexcept {
    const std::size_t group = (index * count_ + ranks_.size() - 1) / ranks_.size();
    if (group == count_ || begin(group) != index) return std::nullopt;
    return group;
  }

private:
  const gathered_blocks& in_;
  std::span<const std::size_t> ranks_;
  std::size_t count_;
};

/// The indices of the ranks of one group, or of all leaders.
pooled_list<std::size_t> members(const node_groups& of, std::size_t group) {
  pooled_list<std::size_t> result(of.begin(group + 1) - of.begin(group));
  std::iota(result.begin(), result.end(), of.begin(group));
  return result;
}
pooled_list<std::size_t> leaders(const node_groups& of) {
  pooled_list<std::size_t> result;
  for (std::size_t group = 0; group < of.count(); ++group) result.push_back(of.begin(group));
  return result;
}

/// The messages of the leader of `group`.
simultaneous messages_of(gathered_blocks& in, const node_groups& here, std::size_t group,
                         std::size_t groups) {
  simultaneous result(in.me);
  for (std::size_t step = 1; step < in.nodes(); ++step) {
    const node_groups on(in, in.node_ahead(step), groups);
    result.send(on.leader(group % on.count()), here.blocks(group));
    const node_groups back(in, in.node_back(step), groups);
    for (std::size_t theirs = group; theirs < back.count(); theirs += here.count()) {
      result.receive(back.leader(theirs), back.blocks(theirs));
    }
  }
  return result;
}

task<> lead(gathered_blocks& in, simultaneous& all, std::span<const std::size_t> group) {
  co_await in.filled.all_here(0, group);
  co_await all.run();
  in.received.post(0);
}

}  // namespace

task<> allgather_by_groups(gathered_blocks& in, std::size_t groups) {
  const node_groups here(in, in.here(), groups);
  co_await in.share_own();
  if (const auto group = here.led_by(in.me.node_index())) {
    simultaneous all = messages_of(in, here, *group, groups);
    co_await all.invite();
    const auto own = members(here, *group);
    auto leading = lead(in, all, own);
    auto copying = in.copy_out_own_node();
    co_await when_all(std::move(leading), std::move(copying));
  } else {
    co_await in.copy_out_own_node();
  }
  const auto speakers = leaders(here);
  co_await in.received.all_here(0, speakers);
  co_await in.copy_out_other_nodes();
}

node_cost cost_of_groups(const even_nodes& of, const arguments& call, std::size_t groups) {
  return cost_of_gathered_blocks(of, call, (of.nodes - 1) * std::min(groups, of.ranks_a_node));
}

}  // namespace muster::algos
