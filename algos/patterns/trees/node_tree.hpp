#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// The ranks of a node as a binomial tree rooted at its leader, for long reductions: each rank's
/// children follow it, so that everything is combined in rank order.
///
/// A leaf lends or stages its contribution on a pipeline. Every other rank combines its own with
/// those of the ranks right below, one after the other, into its stage, or into where the result
/// belongs: nothing else is written. What is below the last has had most time to come.
class node_tree {
public:
  explicit node_tree(context& me);

  /// This rank's own contribution to a segment and what its children have made of theirs, into
  /// `to`.
  task<> combine(pipeline& in, std::span<const std::byte> own, std::size_t segment,
                 std::span<std::byte> to);
  /// All of it, of all but the leader: segment after segment, for the rank right above.
  task<> contribute_all(pipeline& in, std::span<const std::byte> own);

private:
  context& me_;
  std::size_t parent_;
  pooled_list<std::size_t> children_;  // by rank: the nearest, above the fewest, first
};

}  // namespace muster::algos
