#include <muster/select/selection.hpp>

#include <algorithm>
#include <iterator>

#include <muster/call/describe.hpp>

namespace muster {

selection_table::selection_table(const std::vector<rule>& rules) {
  for (std::size_t what = 0; what < collectives; ++what) {
    const auto is_of_it = [&](const rule& each) {
      return each.what == static_cast<collective>(what);
    };
    std::ranges::copy_if(rules, std::back_inserter(rules_), is_of_it);
    first_of_[what + 1] = rules_.size();
  }
}

std::size_t selection_table::first_match(const shape& ranks, const arguments& call,
                                         std::size_t from) const noexcept {
  const std::size_t bytes = bytes_for_selection(call, ranks.size());
  const auto matches = [&](const rule& each) {
    return each.is_for(ranks) && each.bytes.has(bytes);
  };
  const auto what = static_cast<std::size_t>(call.what);
  const std::size_t end = first_of_[what + 1];
  for (std::size_t i = std::max(from, first_of_[what]); i < end; ++i) {
    if (matches(rules_[i])) return i;
  }
  return rules_.size();
}

std::size_t bytes_for_selection(const arguments& call, std::size_t ranks) noexcept {
  const std::size_t bytes = agreed_count(call) * call.element();
  return has_varying_blocks(call.what) ? bytes / ranks : bytes;
}

}  // namespace muster
