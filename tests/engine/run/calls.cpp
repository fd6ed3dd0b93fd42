#include "tests/engine/run/calls.hpp"

#include <numeric>

namespace muster::testing {
namespace {

task<> call_varying(team& of, collective what, buffers& in, roots at) {
  const block_layout blocks{in.counts, {}};
  switch (what) {
    case collective::scatterv:
      co_await scatterv(of, in.blocks, blocks, in.one, at.scatter);
      break;
    case collective::gatherv:
      co_await gatherv(of, in.one, in.blocks, blocks, at.gather);
      break;
    case collective::allgatherv:
      co_await allgatherv(of, in.one, in.blocks, blocks);
      break;
    case collective::alltoallv:
      co_await alltoallv(of, in.blocks, blocks, in.more_blocks, blocks);
      break;
    default:
      co_await reduce_scatter(of, in.blocks, in.counts, in.one, sum);
      break;
  }
}

task<> call_neighbors(team& of, collective what, buffers& in) {
  const neighborhood with{.sources = in.everybody, .destinations = in.everybody};
  const block_layout blocks{in.counts, {}};
  switch (what) {
    case collective::neighbor_allgather:
      co_await neighbor_allgather(of, in.one, in.blocks, with);
      break;
    case collective::neighbor_alltoall:
      co_await neighbor_alltoall(of, in.blocks, in.more_blocks, with);
      break;
    case collective::neighbor_allgatherv:
      co_await neighbor_allgatherv(of, in.one, in.blocks, blocks, with);
      break;
    default:
      co_await neighbor_alltoallv(of, in.blocks, blocks, in.more_blocks, blocks, with);
      break;
  }
}

}  // namespace

buffers::buffers(std::size_t ranks, std::size_t count)
    : one(count),
      other(count),
      blocks(count * ranks),
      more_blocks(count * ranks),
      counts(ranks, count),
      everybody(ranks) {
  std::iota(everybody.begin(), everybody.end(), std::size_t{0});
}

task<> call(team& of, collective what, buffers& in, roots at) {
  switch (what) {
    case collective::barrier:
      co_await barrier(of);
      break;
    case collective::bcast:
      co_await bcast(of, in.one, at.bcast);
      break;
    case collective::reduce:
      co_await reduce(of, in.one, in.other, sum, at.gather);
      break;
    case collective::allreduce:
      co_await allreduce(of, in.one, in.other, max);
      break;
    case collective::allgather:
      co_await allgather(of, in.one, in.blocks);
      break;
    case collective::alltoall:
      co_await alltoall(of, in.blocks, in.more_blocks);
      break;
    case collective::scatter:
      co_await scatter(of, in.blocks, in.one, at.scatter);
      break;
    case collective::gather:
      co_await gather(of, in.one, in.blocks, at.gather);
      break;
    case collective::reduce_scatter_block:
      co_await reduce_scatter_block(of, in.blocks, in.one, sum);
      break;
    case collective::scan:
      co_await scan(of, in.one, in.other, sum);
      break;
    case collective::exscan:
      co_await exscan(of, in.one, in.other, sum);
      break;
    default:
      if (has_neighbors(what)) {
        co_await call_neighbors(of, what, in);
      } else {
        co_await call_varying(of, what, in, at);
      }
      break;
  }
}

}  // namespace muster::testing
