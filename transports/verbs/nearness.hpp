// How far this process's cores are from a NUMA node.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace muster::verbs {

/// What Linux says of a node and itself.
inline constexpr int nearest = 10;

/// Numbers as Linux lists them, such as `0-3,8`. What is none of these ends the list.
std::vector<int> parse_numbers(std::string_view text);

/// The least of `distances`, which are those from `nodes` one by one, from a node of `used`;
/// `nearest` where none is known.
int least_distance(std::span<const int> distances, std::span<const int> nodes,
                   std::span<const int> used);

/// Of the nodes whose cores the calling thread may use, the distance of the one nearest to `node`,
/// in Linux's units; `nearest` where it is not known.
int distance_to(int node);

}  // namespace muster::verbs
