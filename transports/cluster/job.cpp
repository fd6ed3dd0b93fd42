#include "transports/cluster/job.hpp"

#include <algorithm>

namespace muster::cluster {

job::job(shm::job here, std::vector<place> places, std::uint32_t node, const muster::machine& all)
    : here_(std::move(here)), shape_(places), machine_(all) {
  const auto first = std::ranges::find(places, node, &place::node);
  node_ = shape_.node_of(static_cast<std::size_t>(first - places.begin()));
}

}  // namespace muster::cluster
