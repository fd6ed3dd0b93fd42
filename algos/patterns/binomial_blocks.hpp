#pragma once

#include <algorithm>

#include "engine/collective/context.hpp"

/// A binomial tree over all ranks, along which the blocks of a scatter go down or those of a gather
/// come up.
namespace muster::algos {

/// Members count from the root, going round: member m is rank (root + m) mod N. Below member m are
/// the members from m on, as many as its lowest bit says.
class binomial_tree {
public:
  binomial_tree(const context& me, std::size_t root) noexcept
      : binomial_tree(me.size(), root, me.rank()) {}
  /// The same over anything else that is numbered, of which this one is number `mine`.
  binomial_tree(std::size_t size, std::size_t root, std::size_t mine) noexcept
      : size_(size), root_(root), mine_((mine + size - root) % size) {}

  std::size_t mine() const noexcept { return mine_; }
  std::size_t rank_of(std::size_t member) const noexcept { return (root_ + member) % size_; }
  /// The distance to the parent; of the root, beyond every member.
  std::size_t step_up() const noexcept {
    std::size_t bit = 1;
    while (bit < size_ && (mine_ & bit) == 0) bit *= 2;
    return bit;
  }
  std::size_t parent() const noexcept { return rank_of(mine_ - step_up()); }
  bool has_child(std::size_t bit) const noexcept { return mine_ + bit < size_; }
  /// Members of the subtree that begins at `member` and spans `bit`.
  std::size_t below(std::size_t member, std::size_t bit) const noexcept {
    return std::min(bit, size_ - member);
  }
  /// Of so many members from `member` on: those before ranks go round.
  std::size_t before_wrap(std::size_t member, std::size_t count) const noexcept {
    return std::min(count, size_ - rank_of(member));
  }

private:
  std::size_t size_;
  std::size_t root_;
  std::size_t mine_;
};

}  // namespace muster::algos
