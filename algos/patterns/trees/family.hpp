#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include <muster/run/context.hpp>

#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {

/// A rank's place in a binomial tree that is made while an operation runs, as it is told in a note:
/// its parent, then its children, those with most below them first.
class family {
public:
  /// Members of the largest tree in which a note has room for a root's children.
  static constexpr std::size_t most = std::size_t{1} << 11;

  family() { ranks_.fill(nobody); }
  /// That of a member of the tree of these ranks, of which the first is the root.
  family(std::span<const std::size_t> members, std::size_t mine) : family() {
    const binomial_tree tree(members.size(), 0, mine, 1);
    auto* next = ranks_.data();
    *next++ = static_cast<std::uint32_t>(members[tree.parent_member()]);
    for (const auto& child : tree.children()) {
      *next++ = static_cast<std::uint32_t>(members[child.member]);
    }
  }

  std::size_t parent() const { return ranks_.front(); }
  pooled_list<std::size_t> children() const {
    return {ranks_.begin() + 1, std::find(ranks_.begin() + 1, ranks_.end(), nobody)};
  }
  std::span<std::byte> note() { return std::as_writable_bytes(std::span(ranks_)); }

private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::array<std::uint32_t, context::most_note / sizeof(std::uint32_t)> ranks_;
};

}  // namespace muster::algos
