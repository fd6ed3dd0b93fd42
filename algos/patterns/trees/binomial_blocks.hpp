#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <muster/run/context.hpp>

/// A binomial tree over all ranks, or over nodes, along which a message or the blocks of a scatter
/// go down, or those of a gather come up.
namespace muster::algos {

/// Members count from the root, going round: member m is number (root + m) mod N. With one port,
/// below member m are the members from m on, as many as its lowest bit says. With k ports, numbers
/// are written in base k + 1: as many as the place of its lowest digit says, and the up to k
/// children whose numbers differ in the same place are served at once.
class binomial_tree {
public:
  /// A subtree, or a part of one: so many members from the first on.
  struct branch {
    std::size_t member;
    std::size_t below;
  };

  /// Of `size` ranks or nodes, of which this one is number `number`.
  binomial_tree(std::size_t size, std::size_t root, std::size_t number, std::size_t ports) noexcept
      : size_(size),
        root_(root),
        base_(std::min(ports, size) + 1),
        mine_((number + size - root) % size) {
    while (reach_ < size_ && mine_ % (reach_ * base_) == 0) reach_ *= base_;
  }
  binomial_tree(const context& me, std::size_t root, std::size_t ports) noexcept
      : binomial_tree(me.size(), root, me.rank(), ports) {}

  std::size_t mine() const noexcept { return mine_; }
  bool is_root() const noexcept { return mine_ == 0; }
  std::size_t number_of(std::size_t member) const noexcept { return (root_ + member) % size_; }
  /// Of any but the root.
  std::size_t parent_member() const noexcept { return mine_ - mine_ % (reach_ * base_); }
  std::size_t parent() const noexcept { return number_of(parent_member()); }
  /// Members of this rank's own subtree, with itself.
  std::size_t below() const noexcept { return std::min(reach_, size_ - mine_); }
  /// Between siblings: on the level right below this rank, on that below a level; 0 after the last.
  std::size_t first_distance() const noexcept { return reach_ / base_; }
  std::size_t next_distance(std::size_t distance) const noexcept { return distance / base_; }
  /// This rank's children on a level.
  pooled_list<branch> children(std::size_t distance) const {
    pooled_list<branch> result;
    for (std::size_t digit = 1; digit < base_; ++digit) {
      const std::size_t child = mine_ + digit * distance;
      if (child < size_) result.push_back({child, std::min(distance, size_ - child)});
    }
    return result;
  }
  /// All of them, those with most members below them first.
  pooled_list<branch> children() const {
    pooled_list<branch> result;
    for (std::size_t distance = first_distance(); distance != 0;
         distance = next_distance(distance)) {
      const auto level = children(distance);
      result.insert(result.end(), level.begin(), level.end());
    }
    return result;
  }
  /// This rank's own subtree.
  branch own() const noexcept { return {mine_, below()}; }
  /// With whom this rank exchanges the blocks of a branch: its own with its parent, others with
  /// the child.
  std::size_t other_end(branch of) const noexcept {
    return of.member == mine_ ? parent_member() : of.member;
  }
  /// A branch in two, the second perhaps of none: what the root exchanges is cut where numbers go
  /// round, so that each part lies in one place there.
  std::pair<branch, branch> cut(branch of) const noexcept {
    const bool with_root = is_root() || other_end(of) == 0;
    const std::size_t before = with_root ? size_ - number_of(of.member) : size_;
    const std::size_t first = std::min(of.below, before);
    return {{of.member, first}, {of.member + first, of.below - first}};
  }

private:
  std::size_t size_;
  std::size_t root_;
  std::size_t base_;
  std::size_t mine_;
  std::size_t reach_ = 1;  // the place of the lowest digit; of the root, beyond every member
};

}  // namespace muster::algos
