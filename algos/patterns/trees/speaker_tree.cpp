#include "algos/patterns/trees/speaker_tree.hpp"

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

task<> speaker_tree::combine_children(std::span<std::byte> sum) {
  pooled_list<std::size_t> below = children();
  pooled<std::byte> theirs(below.empty() ? 0 : sum.size());
  for (const std::size_t child : below) co_await me_.invite(child, sum.size());
  auto here = me_.messages_from(std::move(below));
  while (const auto child = co_await here.next()) {
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
