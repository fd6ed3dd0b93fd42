#include "tools/conformance/placement.hpp"

#include <algorithm>
#include <numeric>

#include "tools/conformance/random.hpp"
#include "tools/conformance/shuffle.hpp"

namespace muster::testing {
namespace {

// What a call's seed is used for besides its contents.
constexpr std::uint64_t for_style = 1;
constexpr std::uint64_t for_lengths = 2;
constexpr std::uint64_t for_places = 3;

/// All alike, or most of them nothing, or anything up to `call.count`.
std::size_t varying_count(const spec& call, std::uint64_t which) {
  random_stream random(derive(derive(call.seed, for_lengths), which));
  switch (derive(call.seed, for_style) % 8) {
    case 0:
      return call.count;
    case 1:
      return random.one_in(4) ? call.count : 0;
    default:
      break;
  }
  return random.one_in(4) ? 0 : random.below(call.count + 1);
}

/// Blocks one after the other, or apart and in any order.
placement placed(std::vector<std::size_t> counts, random_stream& random) {
  placement result;
  result.counts = std::move(counts);
  result.displacements.resize(result.counts.size());
  result.consecutive = random.one_in(3);
  std::vector<std::size_t> order(result.counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool ordered = result.consecutive || random.one_in(3);
  if (!ordered) shuffle(order, random);
  for (const std::size_t next : order) {
    if (!result.consecutive) result.extent += random.below(4);
    result.displacements[next] = result.extent;
    result.extent += result.counts[next];
  }
  return result;
}

placement consecutive(std::vector<std::size_t> counts) {
  placement result;
  result.counts = std::move(counts);
  result.displacements.resize(result.counts.size());
  std::exclusive_scan(result.counts.begin(), result.counts.end(), result.displacements.begin(),
                      std::size_t{0});
  result.extent = std::accumulate(result.counts.begin(), result.counts.end(), std::size_t{0});
  return result;
}

template <class CountOf>
placement blocks(const spec& call, std::size_t ranks, std::uint64_t which, CountOf count_of) {
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < ranks; ++i) counts.push_back(count_of(i));
  // Those of reduce_scatter always follow each other.
  const bool anywhere = has_varying_blocks(call.what) && call.what != collective::reduce_scatter;
  if (!anywhere) return consecutive(std::move(counts));
  random_stream random(derive(derive(call.seed, for_places), which));
  return placed(std::move(counts), random);
}

}  // namespace

std::size_t block_count(const spec& call, std::size_t from, std::size_t to) {
  switch (call.what) {
    case collective::scatterv:
    case collective::reduce_scatter:
      return varying_count(call, to);
    case collective::gatherv:
    case collective::allgatherv:
      return varying_count(call, from);
    case collective::alltoallv:
      // In place each block is replaced by one of its length.
      if (call.in_place && to < from) std::swap(from, to);
      return varying_count(call, from << 20 | to);
    default:
      return call.count;
  }
}

std::size_t own_count(const spec& call, std::size_t rank) {
  return call.what == collective::alltoallv ? 0 : block_count(call, rank, rank);
}

placement sent(const spec& call, std::size_t ranks, std::size_t rank) {
  const arguments bare = bare_arguments(call, rank);
  if (call.what == collective::barrier || !bare.sends(rank)) return {};
  if (!bare.sends_blocks()) return consecutive({own_count(call, rank)});
  if (call.what == collective::alltoallv && call.in_place) return received(call, ranks, rank);
  return blocks(call, ranks, 2 * rank, [&](std::size_t to) { return block_count(call, rank, to); });
}

placement received(const spec& call, std::size_t ranks, std::size_t rank) {
  const arguments bare = bare_arguments(call, rank);
  if (call.what == collective::barrier || !bare.receives(rank)) return {};
  if (!bare.receives_blocks()) return consecutive({own_count(call, rank)});
  return blocks(call, ranks, 2 * rank + 1,
                [&](std::size_t from) { return block_count(call, from, rank); });
}

arguments bare_arguments(const spec& call, std::size_t rank) {
  arguments result;
  result.what = call.what;
  result.type = call.type;
  result.op = call.op;
  result.order = call.order;
  result.root = call.root;
  result.count = own_count(call, rank);
  if (call.own != own_reduction::none) result.custom = &custom_of(call.own);
  return result;
}

bool has_send_layout(const arguments& call, std::size_t rank) {
  return has_varying_blocks(call.what) && call.sends_blocks() && call.sends(rank);
}

bool has_receive_layout(const arguments& call, std::size_t rank) {
  return has_varying_blocks(call.what) && call.receives_blocks() && call.receives(rank);
}

}  // namespace muster::testing
