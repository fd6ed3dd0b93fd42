#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <muster/call/arguments.hpp>
#include <muster/team/shape.hpp>

namespace muster {

/// Which algorithm runs where: what `muster tune` finds out by measuring. A pure function of what
/// all ranks know alike; the same on all of them.
class selection_table {
public:
  /// From the first to the last, both included.
  struct range {
    std::size_t first = 0;
    std::size_t last = std::numeric_limits<std::size_t>::max();

    bool has(std::size_t value) const noexcept { return first <= value && value <= last; }
  };
  struct rule {
    collective what = collective::barrier;
    range nodes = {};
    range ranks_a_node = {};  ///< of the largest node
    range bytes = {};         ///< `bytes_for_selection`
    std::string algorithm;    ///< as in `team::find`

    bool is_for(const shape& ranks) const noexcept {
      return nodes.has(ranks.nodes()) && ranks_a_node.has(ranks.largest_node());
    }
  };

  selection_table() = default;
  explicit selection_table(const std::vector<rule>& rules);

  /// Those of a collective together, in the order given.
  const std::vector<rule>& rules() const noexcept { return rules_; }
  /// The first rule for such a call on such a team, from number `from` on; their number if none is.
  std::size_t first_match(const shape& ranks, const arguments& call,
                          std::size_t from) const noexcept;

private:
  std::vector<rule> rules_;
  std::array<std::size_t, collectives + 1> first_of_{};  // by collective
};

/// A call's size as far as all ranks know it: bytes of a block, or of the vector; of allgatherv and
/// reduce_scatter the mean block; 0 of those whose lengths only some ranks know.
std::size_t bytes_for_selection(const arguments& call, std::size_t ranks) noexcept;

}  // namespace muster
