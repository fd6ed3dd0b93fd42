#include "tools/conformance/graphs.hpp"

#include <utility>

#include <muster/base/random.hpp>

#include "tools/conformance/shuffle.hpp"

namespace muster::testing {
namespace {

void add_gaps(std::vector<std::size_t>& list, random_stream& random) {
  for (std::size_t i = random.below(3); i > 0; --i) {
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(random.below(list.size() + 1)), no_rank);
  }
}

/// The n-th block that `from` has for `to`.
std::size_t nth_block(const graph::node& from, std::size_t to, std::size_t n) {
  for (std::size_t i = 0; i < from.destinations.size(); ++i) {
    if (from.destinations[i] == to && n-- == 0) return i;
  }
  return no_rank;
}

void find_origins(graph& of) {
  for (std::size_t rank = 0; rank < of.nodes.size(); ++rank) {
    graph::node& mine = of.nodes[rank];
    std::vector<std::size_t> heard(of.nodes.size());
    for (const std::size_t from : mine.sources) {
      graph::origin at;
      if (from != no_rank) at = {from, nth_block(of.nodes[from], rank, heard[from]++)};
      mine.arriving.push_back(at);
    }
  }
}

}  // namespace

graph random_graph(std::uint64_t seed, std::size_t ranks, const graph_traits& of) {
  random_stream random(seed);
  graph result;
  result.nodes.resize(ranks);
  const auto add = [&](std::size_t from, std::size_t to) {
    if (!of.multiple && nth_block(result.nodes[from], to, 0) != no_rank) return;
    result.nodes[from].destinations.push_back(to);
    result.nodes[to].sources.push_back(from);
    if (!of.mutual || from == to) return;
    result.nodes[to].destinations.push_back(from);
    result.nodes[from].sources.push_back(to);
  };
  const std::size_t edges = random.below(4 * ranks + 1);
  for (std::size_t i = 0; i < edges; ++i) {
    const std::size_t from = random.below(ranks);
    const std::size_t to = random.one_in(5) ? from : random.below(ranks);
    for (std::size_t times = random.one_in(4) ? 1 + random.below(3) : 1; times > 0; --times) {
      add(from, to);
    }
  }
  if (!of.lone) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const graph::node& mine = result.nodes[rank];
      if (mine.destinations.empty() && mine.sources.empty()) add(rank, (rank + 1) % ranks);
    }
  }
  for (graph::node& each : result.nodes) {
    shuffle(each.destinations, random);
    shuffle(each.sources, random);
    if (of.mutual) each.sources = each.destinations;
    if (of.gaps && random.one_in(2)) add_gaps(each.destinations, random);
    if (of.gaps && random.one_in(2)) add_gaps(each.sources, random);
  }
  find_origins(result);
  return result;
}

grid random_grid(std::uint64_t seed, std::size_t ranks) {
  random_stream random(seed);
  grid result;
  for (std::size_t left = 1 + random.below(3); left > 0; --left) {
    std::vector<std::size_t> divisors;
    for (std::size_t length = 1; length <= ranks; ++length) {
      if (ranks % length == 0) divisors.push_back(length);
    }
    const std::size_t length = left == 1 ? ranks : divisors[random.below(divisors.size())];
    result.dims.push_back(length);
    result.periodic.push_back(random.one_in(2));
    ranks /= length;
  }
  return result;
}

graph graph_of(const grid& on) {
  const std::size_t dims = on.dims.size();
  std::size_t ranks = 1;
  for (const std::size_t length : on.dims) ranks *= length;
  const auto coordinates_of = [&](std::size_t rank) {
    std::vector<std::size_t> at(dims);
    for (std::size_t i = dims; i-- > 0; rank /= on.dims[i]) at[i] = rank % on.dims[i];
    return at;
  };
  const auto rank_at = [&](const std::vector<std::size_t>& at) {
    std::size_t rank = 0;
    for (std::size_t i = 0; i < dims; ++i) rank = rank * on.dims[i] + at[i];
    return rank;
  };
  graph result;
  result.pairs = pairing::opposite;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    graph::node mine;
    for (std::size_t block = 0; block < 2 * dims; ++block) {
      const std::size_t i = block / 2;
      std::vector<std::size_t> at = coordinates_of(rank);
      const bool leaves = block % 2 == 0 ? at[i] == 0 : at[i] + 1 == on.dims[i];
      at[i] = (at[i] + (block % 2 == 0 ? on.dims[i] - 1 : 1)) % on.dims[i];
      const bool is_there = !leaves || on.periodic[i];
      const std::size_t neighbor = is_there ? rank_at(at) : no_rank;
      mine.sources.push_back(neighbor);
      mine.destinations.push_back(neighbor);
      // What comes from before this rank was sent to the one after.
      mine.arriving.push_back({neighbor, block % 2 == 0 ? block + 1 : block - 1});
    }
    result.nodes.push_back(std::move(mine));
  }
  return result;
}

}  // namespace muster::testing
