#include "transports/cluster/job.hpp"

#include <algorithm>

namespace muster::cluster {

job::job(shm::job here, std::vector<place> places, std::uint32_t node, const muster::machine& all,
         std::size_t neighbors)
    : here_(std::move(here)), shape_(places), machine_(all) {
  const std::size_t ranks = here_.size();
  processors_here_ = here_.machine().processors * ranks / (ranks + neighbors);
  const auto first = std::ranges::find(places, node, &place::node);
  node_ = shape_.node_of(static_cast<std::size_t>(first - places.begin()));
}

}  // namespace muster::cluster
