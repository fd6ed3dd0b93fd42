#include "engine/collective/selection.hpp"

#include "engine/collective/describe.hpp"

namespace muster {

std::size_t selection_table::first_match(const shape& ranks, const arguments& call,
                                         std::size_t from) const noexcept {
  const std::size_t bytes = bytes_for_selection(call, ranks.size());
  const auto matches = [&](const rule& each) {
    return each.what == call.what && each.nodes.has(ranks.nodes()) &&
           each.ranks_a_node.has(ranks.largest_node()) && each.bytes.has(bytes);
  };
  while (from < rules_.size() && !matches(rules_[from])) ++from;
  return from;
}

std::size_t bytes_for_selection(const arguments& call, std::size_t ranks) noexcept {
  const std::size_t bytes = agreed_count(call) * call.element();
  return has_varying_blocks(call.what) ? bytes / ranks : bytes;
}

}  // namespace muster
