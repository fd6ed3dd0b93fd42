#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <muster/team/groups.hpp>

namespace muster {

/// Of a team.
inline constexpr std::size_t most_ranks_a_node = 1024;

/// Where a rank runs. `unknown` where the rank is bound to nothing or the system does not say.
struct place {
  static constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t node = 0;
  std::uint32_t package = unknown;
  std::uint32_t numa = unknown;
  std::uint32_t l3 = unknown;
  std::uint32_t core = unknown;

  friend bool operator==(const place&, const place&) = default;
};

/// Which ranks of a team share what. The same on every rank of the team. Copies share one table, so
/// that thousands of ranks in one process cost it once.
class shape {
public:
  explicit shape(std::vector<place> places);

  std::size_t size() const noexcept { return node_of_.size(); }
  std::size_t nodes() const noexcept { return table_->ranks_of.size(); }
  const place& place_of(std::size_t rank) const noexcept { return table_->places[rank]; }
  /// Nodes are numbered 0… in the order of their lowest rank.
  std::size_t node_of(std::size_t rank) const noexcept { return node_of_[rank]; }
  /// The ranks of a node, ascending.
  std::span<const std::size_t> ranks_of(std::size_t node) const noexcept {
    return table_->ranks_of[node];
  }
  /// Ranks of the node that has most.
  std::size_t largest_node() const noexcept { return table_->largest_node; }
  /// A rank's index among the ranks of its node.
  std::size_t index_of(std::size_t rank) const noexcept { return index_of_[rank]; }
  /// Whether each node's ranks follow each other, so that going through the nodes, and the ranks
  /// of each, is going through the ranks.
  bool nodes_are_contiguous() const noexcept { return table_->nodes_are_contiguous; }
  /// A node's ranks in groups, by where they are and by rank.
  const groups& near_groups(std::size_t node) const noexcept { return table_->near[node]; }
  const groups& rank_groups(std::size_t node) const noexcept { return table_->runs[node]; }

private:
  struct table {
    std::vector<place> places;
    std::vector<std::size_t> node_of;
    std::vector<std::size_t> index_of;
    std::vector<std::vector<std::size_t>> ranks_of;
    std::size_t largest_node = 0;
    bool nodes_are_contiguous;
    std::vector<groups> near;
    std::vector<groups> runs;
  };
  static table make_table(std::vector<place> places);

  std::shared_ptr<const table> table_;
  std::span<const std::size_t> node_of_;
  std::span<const std::size_t> index_of_;
};

}  // namespace muster
