// What one call costs on two nodes with one rail, held against what its algorithm says: a rank of
// it.
//
//   costs_program alltoall|allgather ALGORITHM

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/muster.hpp>

#include "algos/catalog.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t block = 24;

/// Of a node, for one call.
struct counted {
  std::uint64_t queue_pairs = 0;
  std::uint64_t sends = 0;
};

void call(team& of, collective what) {
  const std::vector<std::byte> from(block * (what == collective::alltoall ? of.size() : 1));
  std::vector<std::byte> to(block * of.size());
  if (what == collective::alltoall) {
    start(alltoall(of, std::span(from), std::span(to))).wait();
  } else {
    start(allgather(of, std::span(from), std::span(to))).wait();
  }
}

/// The least of several calls: in others a rank may also say what was consumed, or ask one that it
/// waits for what that calls.
counted measure(team& of, collective what) {
  constexpr int calls = 24;
  counted least{.queue_pairs = 0, .sends = std::numeric_limits<std::uint64_t>::max()};
  for (int i = 0; i < calls; ++i) {
    const std::uint64_t before = of.traffic().requests;
    call(of, what);
    least.sends = std::min(least.sends, of.traffic().requests - before);
  }
  least.queue_pairs = of.traffic().queue_pairs;
  return least;
}

std::vector<counted> gather(team& of, const counted& mine) {
  std::vector<std::uint64_t> all(2 * of.size());
  const std::uint64_t both[] = {mine.queue_pairs, mine.sends};
  start(allgather(of, std::span(both), std::span(all))).wait();
  std::vector<counted> nodes(of.shape().nodes());
  for (std::size_t rank = 0; rank < of.size(); ++rank) {
    counted& node = nodes[of.shape().node_of(rank)];
    node.queue_pairs += all[2 * rank];
    node.sends += all[2 * rank + 1];
  }
  return nodes;
}

node_cost said_by(const team& of, collective what, std::string_view algorithm) {
  const auto row = std::ranges::find_if(
      algos::catalog(), [&](const auto& one) { return one.what == what && one.id == algorithm; });
  const arguments known = bare_arguments({what, datatype::byte, reduction::none, block}, of.rank());
  const std::size_t nodes = of.shape().nodes();
  return row->costs({nodes, of.size() / nodes}, known);
}

int run(collective what, const std::string& algorithm) {
  world all;
  team& of = all.team();
  of.choose(what, algorithm);
  const counted mine = measure(of, what);
  of.choose(collective::allgather, "");
  const std::vector<counted> nodes = gather(of, mine);
  const node_cost said = said_by(of, what, algorithm);
  bool fits = true;
  for (const counted& node : nodes) {
    fits = fits && node.queue_pairs == said.connections && node.sends == said.messages;
  }
  if (of.rank() == 0) {
    for (const counted& node : nodes) {
      std::printf("%s: %llu queue pairs and %llu sends a node; %llu and %llu expected\n",
                  algorithm.c_str(), static_cast<unsigned long long>(node.queue_pairs),
                  static_cast<unsigned long long>(node.sends),
                  static_cast<unsigned long long>(said.connections),
                  static_cast<unsigned long long>(said.messages));
    }
  }
  return fits ? 0 : 1;
}

}  // namespace
}  // namespace muster::testing

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool is_alltoall = std::string_view(argv[1]) == "alltoall";
  return muster::testing::run(
      is_alltoall ? muster::collective::alltoall : muster::collective::allgather, argv[2]);
}
