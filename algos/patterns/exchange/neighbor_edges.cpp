#include "algos/patterns/exchange/neighbor_edges.hpp"

#include <algorithm>
#include <tuple>

namespace muster::algos {
namespace {

template <class Byte>
void put_in_order(const context& me, pooled_list<edge<Byte>>& edges) {
  const auto turn = [&me](const edge<Byte>& one) {
    return std::tuple((one.rank + me.size() - me.rank() - 1) % me.size(), one.position);
  };
  std::ranges::sort(edges, {}, turn);
}

}  // namespace

pooled_list<outgoing> outgoing_of(const context& me, const arguments& call) {
  const neighborhood& with = *call.neighbors;
  pooled_list<outgoing> edges;
  edges.reserve(with.destinations.size());
  for (std::size_t i = 0; i < with.destinations.size(); ++i) {
    if (with.destinations[i] == no_rank) continue;
    edges.push_back({with.destinations[i], i, call.sent_to_neighbor(i)});
  }
  put_in_order(me, edges);
  return edges;
}

pooled_list<incoming> incoming_of(const context& me, const arguments& call) {
  const neighborhood& with = *call.neighbors;
  pooled_list<incoming> edges;
  edges.reserve(with.sources.size());
  for (std::size_t i = 0; i < with.sources.size(); ++i) {
    const std::size_t place = with.source_at(i);
    if (with.sources[place] == no_rank) continue;
    edges.push_back({with.sources[place], i, call.received_from(place)});
  }
  put_in_order(me, edges);
  return edges;
}

}  // namespace muster::algos
