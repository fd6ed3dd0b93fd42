#pragma once

#include <cstddef>

#include "algos/patterns/exchange/digits.hpp"
#include "algos/patterns/exchange/exchange_groups.hpp"

namespace muster::algos {

/// How blocks lie in an alltoall by exchange among groups. The speaker of group g has a place for
/// each group; when the digits of less than some weight are exchanged, there lie at place x, as one
/// bundle, the blocks from all ranks of a group whose number has these digits from x and the others
/// from g, to all ranks of one that has them the other way round. At first that is from g to x, at
/// last from x to g.
class exchange_bundles {
public:
  exchange_bundles(std::size_t ranks, std::size_t ports) : groups_(ranks, ports) {}

  const exchange_groups& groups() const noexcept { return groups_; }
  std::size_t ranks_in(std::size_t group) const noexcept {
    return groups_.first(group + 1) - groups_.first(group);
  }
  /// In the bundle of group `group` at `place`.
  std::size_t blocks(std::size_t group, std::size_t place, std::size_t weight) const noexcept {
    const std::size_t from = exchange_groups::aligned(group, weight) + place % weight;
    const std::size_t to = exchange_groups::aligned(place, weight) + group % weight;
    return ranks_in(from) * ranks_in(to);
  }
  /// Places whose bundles go from a group to its partner when the digit of `weight` is exchanged,
  /// and into which those of the partner come: the first, and the next ones below
  /// `groups().count()`.
  std::size_t first_place(std::size_t partner, std::size_t weight) const noexcept {
    return partner / weight % groups_.base() * weight;
  }
  std::size_t next_place(std::size_t place, std::size_t weight) const noexcept {
    return next_alike(place, weight, groups_.base());
  }
  /// What goes that way in all.
  std::size_t blocks_to(std::size_t partner, std::size_t group, std::size_t weight) const noexcept {
    std::size_t all = 0;
    for (std::size_t place = first_place(partner, weight); place < groups_.count();
         place = next_place(place, weight)) {
      all += blocks(group, place, weight);
    }
    return all;
  }

private:
  exchange_groups groups_;
};

}  // namespace muster::algos
