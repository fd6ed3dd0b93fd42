#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace muster::stream {

/// A rail of one rank and one of another that lead to each other.
using rail_pair = std::pair<std::size_t, std::size_t>;

/// Rails of two ranks, each used once, in the order of the first one's.
/// \param share_network whether two rails lead to each other
template <class Reach, class Share>
std::vector<rail_pair> pair_rails(const Reach& first, const Reach& second, Share share_network) {
  std::vector<rail_pair> pairs;
  for (std::size_t i = 0; i < first.count; ++i) {
    for (std::size_t j = 0; j < second.count; ++j) {
      const bool is_taken = std::ranges::find(pairs, j, &rail_pair::second) != pairs.end();
      if (is_taken || !share_network(first.rails[i], second.rails[j])) continue;
      pairs.emplace_back(i, j);
      break;
    }
  }
  return pairs;
}

/// Without those of less than half the fastest one's speed: a slow rail would hold up what takes
/// turns.
template <class Reach>
void drop_slow(std::vector<rail_pair>& pairs, const Reach& first, const Reach& second) {
  if (pairs.empty()) return;
  const auto speed = [&](const rail_pair& one) {
    return std::min(first.rails[one.first].speed, second.rails[one.second].speed);
  };
  const std::uint32_t fastest = speed(*std::ranges::max_element(pairs, {}, speed));
  std::erase_if(pairs,
                [&](const rail_pair& one) { return 2 * std::uint64_t{speed(one)} < fastest; });
}

}  // namespace muster::stream
