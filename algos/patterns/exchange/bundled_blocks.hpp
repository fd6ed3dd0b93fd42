#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

#include "algos/patterns/exchange/exchange_bundles.hpp"

namespace muster::algos {

/// The blocks that a speaker holds in an alltoall by exchange among groups: those that the ranks of
/// its group send, and in their place bundles that came. See exchange_bundles.
class bundled_blocks {
public:
  bundled_blocks(context& me, const arguments& call, exchange_bundles bundles, std::size_t group);

  std::size_t bytes_to(std::size_t partner, std::size_t weight) const;
  std::size_t bytes_from(std::size_t partner, std::size_t weight) const;
  /// Ranks of the group.
  std::size_t ranks() const noexcept { return sent_.size(); }
  /// Where to receive what a rank of the group sends, but the speaker, which is its first.
  std::span<std::byte> row_of(std::size_t member) const { return collected_[member - 1]; }

  /// What goes to the speaker of group `partner` when the digit of `weight` is exchanged.
  /// \param to `bytes_to` bytes
  task<> pack(std::size_t partner, std::size_t weight, std::span<std::byte> to) const;
  /// What came from it, which stays where it is until the end.
  void note_come(std::size_t partner, std::size_t weight, std::span<const std::byte> from);
  /// What came for one rank of the group, in the order of the ranks from which it came.
  /// \param result a block of each rank
  task<> unpack(std::size_t member, std::span<std::byte> result) const;

private:
  const exchange_groups& groups() const noexcept { return bundles_.groups(); }
  task<> pack_bundle(std::size_t place, std::span<std::byte> to) const;

  context& me_;
  exchange_bundles bundles_;
  std::size_t group_;
  std::size_t block_;                             // bytes
  pooled_list<std::span<const std::byte>> sent_;  // by each rank of the group
  pooled_list<std::span<std::byte>> collected_;   // the same, but for this rank
  pooled_list<const std::byte*> at_;  // where bundles lie that came; others are in `sent_`
};

}  // namespace muster::algos
