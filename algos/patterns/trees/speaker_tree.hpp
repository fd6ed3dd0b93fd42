#pragma once

#include <muster/run/context.hpp>

#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

/// Reductions whose order is free, over a tree between nodes: whatever has come is combined, from
/// local peers and from other nodes alike.
namespace muster::algos {

/// For those who speak for their nodes: a root on its own node, the leader elsewhere.
class speaker_tree {
public:
  speaker_tree(context& me, std::size_t root) noexcept;

  std::size_t speaker() const noexcept { return speaker_of(node_); }
  bool is_root() const noexcept { return nodes_.is_root(); }
  std::size_t parent() const noexcept { return speaker_of(nodes_.parent()); }
  /// The speakers right below, those with most nodes below them first.
  pooled_list<std::size_t> children() const;

  /// A speaker's part, for a segment: `sum` holds its own contribution; puts to it those of its
  /// local peers on pipeline `in`, and what the speakers below hand it, as they come. Hands it up.
  task<> combine(pipeline& in, std::size_t segment, std::span<std::byte> sum);

private:
  std::size_t speaker_of(std::size_t node) const noexcept;
  /// Where comes what a speaker right below has for a segment: long ones may all come at once.
  std::span<std::byte> room_for(std::size_t child, std::size_t children, std::size_t bytes);
  task<> combine_children(std::span<std::byte> sum);

  context& me_;
  std::size_t root_;
  std::size_t node_;
  binomial_tree nodes_;
  std::span<std::byte> room_;
};

inline bool any_team_as_they_come(const shape&, const machine&, const arguments& call) {
  return combines_as_they_come(call) && elements_fit(call);
}

}  // namespace muster::algos
