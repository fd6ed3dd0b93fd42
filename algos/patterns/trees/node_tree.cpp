#include "algos/patterns/trees/node_tree.hpp"

#include "algos/patterns/exchange/members.hpp"
#include "algos/patterns/node/reduce_slices.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {

node_tree::node_tree(context& me) : me_(me), parent_(0) {
  const binomial_tree tree(me.node().size(), 0, me.node_index(), 1);
  if (!tree.is_root()) parent_ = tree.parent_member();
  // Those with the fewest below them are there first, and are next in rank order.
  for (const auto& child : tree.children()) children_.insert(children_.begin(), child.member);
}

task<> node_tree::combine(pipeline& in, std::span<const std::byte> own, std::size_t segment,
                          std::span<std::byte> to) {
  const std::byte* so_far = own.data() + in.cut().offset(segment);
  for (const std::size_t child : children_) {
    co_await in.arrived(child, segment);
    co_await combine_ordered(me_, to, so_far, in.piece(child, segment, 0));
    so_far = to.data();
  }
  if (children_.empty()) co_await me_.copy(to, {so_far, to.size()});
  in.take(segment);
}

task<> node_tree::contribute_all(pipeline& in, std::span<const std::byte> own) {
  const bool is_leaf = children_.empty();
  if (is_leaf) in.lend(own, pipeline::lending::for_loads);
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    if (is_leaf) {
      co_await contribute(me_, in, own, k, parent_);
      continue;
    }
    std::byte* const slot = co_await in.slot(k, parent_);
    co_await combine(in, own, k, {slot, in.cut().length(k)});
    in.post(k);
  }
  co_await in.returned(parent_);
}

}  // namespace muster::algos
