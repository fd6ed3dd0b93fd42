#include "algos/patterns/trees/speaker_tree.hpp"

#include <algorithm>

#include <muster/coro/when_all.hpp>

#include "algos/patterns/exchange/members.hpp"
#include "algos/patterns/node/leaders.hpp"

namespace muster::algos {

speaker_tree::speaker_tree(context& me, std::size_t root) noexcept
    : me_(me),
      root_(root),
      node_(node_number(me)),
      nodes_(me.shape().nodes(), me.shape().node_of(root), node_, 1) {}

std::size_t speaker_tree::speaker_of(std::size_t node) const noexcept {
  return node == me_.shape().node_of(root_) ? root_ : leader_of(me_.shape(), node);
}

pooled_list<std::size_t> speaker_tree::children() const {
  pooled_list<std::size_t> result;
  for (const auto& child : nodes_.children()) {
    result.push_back(speaker_of(nodes_.number_of(child.member)));
  }
  return result;
}

// The first segment is the longest.
std::span<std::byte> speaker_tree::room_for(std::size_t child, std::size_t children,
                                            std::size_t bytes) {
  const bool all_at_once = me_.is_zero_copy(bytes);
  if (room_.empty()) room_ = me_.scratch(all_at_once ? children * bytes : bytes);
  return room_.subspan(all_at_once ? child * bytes : 0, bytes);
}

task<> speaker_tree::combine_children(std::span<std::byte> sum) {
  const pooled_list<std::size_t> below = children();
  for (std::size_t i = 0; i < below.size(); ++i) {
    co_await me_.invite(below[i], room_for(i, below.size(), sum.size()));
  }
  auto here = me_.messages_from(below);
  while (const auto child = co_await here.next()) {
    const auto at = static_cast<std::size_t>(std::ranges::find(below, *child) - below.begin());
    const std::span<std::byte> theirs = room_for(at, below.size(), sum.size());
    co_await me_.receive(*child, theirs);
    co_await combine_ordered(me_, sum, sum.data(), theirs.data());
  }
}

task<> speaker_tree::combine(pipeline& in, std::size_t segment, std::span<std::byte> sum) {
  auto elsewhere = combine_children(sum);
  // Both put to what is in `sum` when their next inputs are there.
  auto inside = combine_arrivals(me_, segment_inputs{in, segment}, sum.data(), sum.data(),
                                 sum.size() / me_.call().element());
  co_await when_all(std::move(elsewhere), std::move(inside));
  in.take(segment);
  if (!is_root()) co_await me_.send(parent(), sum);
}

}  // namespace muster::algos
