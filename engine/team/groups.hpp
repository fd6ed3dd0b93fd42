#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace muster {

struct place;

/// The ranks of a node divided into groups, so that nobody need look at all the others: a member
/// looks at its leader, a leader at its members and at the other leaders. With about √N groups of
/// about √N ranks these are the fewest lines.
///
/// Ranks are named by their index on the node. A pure function of the ranks' places.
class groups {
public:
  /// Ranks that are near each other: of one third-level cache, several small ones of one NUMA node,
  /// or part of a large one. Runs of ranks where places are not known.
  static groups near(std::span<const place> local_peers);
  /// Runs of successive ranks, for what is to be combined in rank order; those of `near` where
  /// these are runs, otherwise as equal as possible.
  static groups runs(std::span<const place> local_peers);

  std::size_t count() const noexcept { return leaders_.size(); }
  /// The lowest rank of each group, ascending: the order of the groups.
  std::span<const std::size_t> leaders() const noexcept { return leaders_; }
  std::size_t group_of(std::size_t local_peer) const noexcept { return group_of_[local_peer]; }
  std::size_t leader_of(std::size_t local_peer) const noexcept {
    return leaders_[group_of_[local_peer]];
  }
  bool is_leader(std::size_t local_peer) const noexcept {
    return leader_of(local_peer) == local_peer;
  }
  /// The ranks of a group, ascending; its leader is the first.
  std::span<const std::size_t> members(std::size_t group) const noexcept {
    return std::span(ordered_).subspan(begins_[group], begins_[group + 1] - begins_[group]);
  }
  std::span<const std::size_t> members_with(std::size_t local_peer) const noexcept {
    return members(group_of(local_peer));
  }
  /// Of the largest group.
  std::size_t most_members() const noexcept { return most_members_; }

private:
  explicit groups(std::vector<std::vector<std::size_t>> members);
  bool are_runs() const noexcept;

  std::vector<std::size_t> leaders_;
  std::vector<std::size_t> group_of_;
  std::vector<std::size_t> ordered_;  // all ranks, group after group
  std::vector<std::size_t> begins_;   // of each group in `ordered_`, and the end
  std::size_t most_members_ = 0;
};

}  // namespace muster
