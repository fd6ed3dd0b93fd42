#include "engine/collective/selection.hpp"

#include <algorithm>

#include "engine/collective/describe.hpp"

namespace muster {

std::vector<const selection_table::rule*> selection_table::matching(const shape& ranks,
                                                                    const arguments& call) const {
  std::size_t largest = 0;
  for (std::size_t node = 0; node < ranks.nodes(); ++node) {
    largest = std::max(largest, ranks.ranks_of(node).size());
  }
  const std::size_t bytes = bytes_for_selection(call, ranks.size());
  std::vector<const rule*> result;
  for (const rule& each : rules_) {
    if (each.what == call.what && each.nodes.has(ranks.nodes()) && each.ranks_a_node.has(largest) &&
        each.bytes.has(bytes)) {
      result.push_back(&each);
    }
  }
  return result;
}

std::size_t bytes_for_selection(const arguments& call, std::size_t ranks) noexcept {
  const std::size_t bytes = agreed_count(call) * call.element();
  return has_varying_blocks(call.what) ? bytes / ranks : bytes;
}

}  // namespace muster
