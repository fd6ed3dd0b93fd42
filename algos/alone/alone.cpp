// Any collective in a team of one rank.
//
//  1  copy what this rank gives into what it receives, if that is elsewhere
//
// There is nobody to wait for and nobody who reads, so nothing goes through a stage.
//
// Source: MPI-4.0 (6.2), whose collectives are defined for groups of one process, too.

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

/// What this rank gives itself; empty where that is nothing, or where it is already.
std::span<const std::byte> given(const arguments& call) {
  using enum collective;
  if (call.what == barrier || call.what == bcast || call.what == exscan || call.in_place())
    return {};
  if (call.sends_blocks()) return call.sent_to(0);
  return call.receives_blocks() ? call.own_block(0) : call.contribution();
}

std::span<std::byte> received(const arguments& call) {
  return call.receives_blocks() ? call.received_from(0) : call.result();
}

wire::work_wait keep(context& me, const arguments& call) {
  me.arrive();
  return me.copy(received(call), given(call));
}

task<> run(context& me, const arguments& call) { co_await keep(me, call); }

bool at_once(context& me, const arguments& call) {
  keep(me, call);
  return true;
}

bool one_rank(const shape& ranks, const machine&, const arguments&) { return ranks.size() == 1; }

constexpr algorithm row_of(collective what) {
  return {
      .id = "alone",
      .what = what,
      .summary = "a rank without peers copies what it has",
      .source = "MPI-4.0 6.2",
      .needs = "one rank",
      .suits = one_rank,
      .stages = no_stages,
      .run = run,
      .at_once = at_once,
  };
}

}  // namespace

const algorithm barrier_alone = row_of(collective::barrier);
const algorithm bcast_alone = row_of(collective::bcast);
const algorithm reduce_alone = row_of(collective::reduce);
const algorithm allreduce_alone = row_of(collective::allreduce);
const algorithm allgather_alone = row_of(collective::allgather);
const algorithm alltoall_alone = row_of(collective::alltoall);
const algorithm scatter_alone = row_of(collective::scatter);
const algorithm gather_alone = row_of(collective::gather);
const algorithm reduce_scatter_block_alone = row_of(collective::reduce_scatter_block);
const algorithm scan_alone = row_of(collective::scan);
const algorithm exscan_alone = row_of(collective::exscan);
const algorithm scatterv_alone = row_of(collective::scatterv);
const algorithm gatherv_alone = row_of(collective::gatherv);
const algorithm allgatherv_alone = row_of(collective::allgatherv);
const algorithm alltoallv_alone = row_of(collective::alltoallv);
const algorithm reduce_scatter_alone = row_of(collective::reduce_scatter);

}  // namespace muster::algos
