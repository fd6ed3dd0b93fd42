#include <muster/team/shape.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace muster {

shape::table shape::make_table(std::vector<place> places) {
  table result;
  std::map<std::uint32_t, std::size_t> number_of;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const auto [entry, first] = number_of.try_emplace(places[rank].node, result.ranks_of.size());
    if (first) result.ranks_of.emplace_back();
    std::vector<std::size_t>& local_peers = result.ranks_of[entry->second];
    result.node_of.push_back(entry->second);
    result.index_of.push_back(local_peers.size());
    local_peers.push_back(rank);
  }
  // Nodes are numbered as they are met: a lower number later on is a node met again.
  result.nodes_are_contiguous = std::ranges::is_sorted(result.node_of);
  for (const std::vector<std::size_t>& local_peers : result.ranks_of) {
    result.largest_node = std::max(result.largest_node, local_peers.size());
    std::vector<place> of_node;
    for (const std::size_t rank : local_peers) of_node.push_back(places[rank]);
    result.near.push_back(groups::near(of_node));
    result.runs.push_back(groups::runs(of_node));
  }
  result.places = std::move(places);
  return result;
}

shape::shape(std::vector<place> places)
    : table_(std::make_shared<const table>(make_table(std::move(places)))),
      node_of_(table_->node_of),
      index_of_(table_->index_of) {}

}  // namespace muster
