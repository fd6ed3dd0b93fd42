#include "engine/team/shape.hpp"

#include <map>
#include <utility>

namespace muster {

shape::shape(std::vector<place> places) : places_(std::move(places)) {
  std::map<std::uint32_t, std::size_t> number_of;
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    const auto [entry, first] = number_of.try_emplace(places_[rank].node, ranks_of_.size());
    if (first) ranks_of_.emplace_back();
    std::vector<std::size_t>& neighbours = ranks_of_[entry->second];
    node_of_.push_back(entry->second);
    index_of_.push_back(neighbours.size());
    neighbours.push_back(rank);
  }
}

}  // namespace muster
