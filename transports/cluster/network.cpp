#include "transports/cluster/network.hpp"

#include <string>
#include <utility>
#include <vector>

#include "transports/mpi/endpoint.hpp"
#include "transports/verbs/adapter.hpp"

namespace muster::cluster {
namespace {

std::unique_ptr<verbs::adapter> adapter_for(network& by) {
  if (by.by_rdma.empty()) return nullptr;
  return std::make_unique<verbs::adapter>(
      verbs::adapter::settings{
          .rank = by.how.rank, .window = by.how.window, .most_queue_pairs = by.most_queue_pairs},
      by.ports, std::move(by.by_rdma));
}

// What the endpoint does not know of the job comes by its memory.
std::unique_ptr<stream::remote_ranks> make_endpoint(network by, const job& of) {
  by.how.bell = of.here().bell(of.place_of(by.how.rank));
  by.how.give_up = [&of, rank = by.how.rank](const std::string& why) {
    of.here().fail({.code = errc::resource, .rank = rank, .text = why});
  };
  std::unique_ptr<verbs::adapter> rdma = adapter_for(by);
  return std::make_unique<tcp::endpoint>(by.how, std::move(by.doors), std::move(by.peers),
                                         std::move(rdma));
}

}  // namespace

reach reach_by(network by) {
  auto kept = std::make_shared<network>(std::move(by));  // a function has to be copyable
  return [kept](const job& of) { return make_endpoint(std::move(*kept), of); };
}

reach reach_by(std::size_t rank, mpi::messenger& by) {
  return [rank, &by](const job& of) {
    std::vector<bool> remote(of.size());
    for (std::size_t peer = 0; peer < of.size(); ++peer) remote[peer] = !of.is_here(peer);
    const mpi::endpoint::settings how{.rank = rank, .window = 2 * of.machine().message_piece};
    return std::make_unique<mpi::endpoint>(how, by, std::move(remote));
  };
}

}  // namespace muster::cluster
