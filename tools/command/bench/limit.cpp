#include "tools/command/bench/limit.hpp"

#include <algorithm>

#include "tools/command/bench/buffers.hpp"

namespace muster::bench {
namespace {

/// How ranks lie on the cores, as evenly as they can.
struct arrangement {
  double own = 1;     ///< ranks of the fullest core, which the root is on
  double others = 0;  ///< ranks of all other cores
  double next = 0;    ///< ranks of the fullest of those
  double cores = 1;   ///< that have a rank
};

arrangement arrange(std::size_t ranks, std::size_t cores) {
  const std::size_t used = std::min(ranks, std::max<std::size_t>(cores, 1));
  const std::size_t fullest = (ranks + used - 1) / used;
  const std::size_t others = ranks - fullest;
  const std::size_t next = used > 1 ? (others + used - 2) / (used - 1) : 0;
  return {static_cast<double>(fullest), static_cast<double>(others), static_cast<double>(next),
          static_cast<double>(used)};
}

/// Blocks or vectors that one core copies in a call.
struct copies {
  double crossing = 0;  ///< that another core wrote
  double near = 0;      ///< that this core wrote, or has copied before
};

/// What the core that copies most copies at least.
copies copies_of(collective what, const arrangement& on) {
  const bool alone = on.others == 0;
  const double once = alone ? 0 : 1;  // whatever comes from elsewhere crosses at least once
  switch (what) {
    case collective::barrier:
      return {};
    // A vector comes to the other core once; its first rank's copy is near for the others. The
    // root's core only has near ones, which go on at the same time.
    case collective::bcast:
      return alone ? copies{0, on.own - 1} : copies{once, on.next - 1};
    // The root's core combines its own ranks' vectors, and the others' together, which were
    // combined on their way (a chain): each core reads one vector from elsewhere.
    case collective::reduce:
      return {once, on.own - 1};
    // Slices are combined and the results handed round (Rabenseifner): of each vector a core reads
    // all slices but its own, twice. Each of its ranks also reads or copies what is near.
    case collective::allreduce:
      return {2 * (on.cores - 1) / on.cores, 2 * (on.own - 1)};
    // Each rank's result needs that of the rank before, of which one is elsewhere.
    case collective::scan:
    case collective::exscan:
      return {once, on.own - 1};
    // To a core without the root all blocks come from elsewhere.
    case collective::scatter:
    case collective::scatterv:
      return alone ? copies{0, on.own} : copies{on.next, 0};
    // The root alone copies all blocks, its own among them.
    case collective::gather:
    case collective::gatherv:
      return {on.others, on.own};
    // Each rank copies all blocks; those from elsewhere are near for all but the first.
    case collective::allgather:
    case collective::allgatherv:
      return {on.others, on.own * on.own + (on.own - 1) * on.others};
    // Every block has one reader.
    case collective::alltoall:
    case collective::alltoallv:
      return {on.own * on.others, on.own * on.own};
    // Every core combines its ranks' vectors, of which a block is for each rank, and reads from
    // each other core what that has combined for its ranks.
    case collective::reduce_scatter_block:
    case collective::reduce_scatter:
      return {on.own * (on.cores - 1), (on.own - 1) * (on.own + on.others)};
    // Who a rank's neighbors are is a program's own: they are not measured.
    case collective::neighbor_allgather:
    case collective::neighbor_alltoall:
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv:
      return {};
  }
  return {};
}

/// Whether no rank's call can end before every rank's has begun.
bool waits_for_all(collective what) {
  switch (what) {
    case collective::barrier:
    case collective::allreduce:
    case collective::allgather:
    case collective::allgatherv:
    case collective::alltoall:
    case collective::alltoallv:
    case collective::reduce_scatter_block:
    case collective::reduce_scatter:
      return true;
    default:
      return false;
  }
}

/// Blocks or messages that pass through the memory: each is read once where it comes from, and
/// written to each place where it is wanted.
double passing_memory(collective what, double ranks) {
  switch (what) {
    case collective::bcast:
      return 1 + (ranks - 1);
    case collective::scatter:
    case collective::scatterv:
    case collective::gather:
    case collective::gatherv:
      return ranks + ranks;
    case collective::allgather:
    case collective::allgatherv:
      return ranks + ranks * ranks;
    case collective::alltoall:
    case collective::alltoallv:
      return ranks * ranks + ranks * ranks;
    default:
      return 0;
  }
}

/// Copying a byte is reading and writing one.
double memory_limit_ns(const point& at, const allowance& given) {
  const double passing = passing_memory(at.what, static_cast<double>(at.ranks));
  return passing / 2 * static_cast<double>(at.bytes) * given.memory_ns;
}

/// Until every rank knows that all others have come. On cores of their own: one trip, if each tells
/// all others at once. Where ranks share cores each must have its core once a call; the last to
/// come finds everybody there and is at once the first of the next call, so a core changes hands
/// once less than it has ranks, and its trips hide behind that.
double meeting_ns(const arrangement& on, const allowance& given) {
  const double switches = (on.own - 1) * given.switch_ns;
  return std::max(switches, on.others > 0 ? given.trip_ns : 0);
}

}  // namespace

bool leaves_caches(const point& at) {
  constexpr std::size_t more_than_a_cache = std::size_t{64} << 20;
  return has_sizes(at.what) && !has_op(at.what) &&
         call_bytes(at.what, at.bytes, at.ranks) >= more_than_a_cache;
}

// Where a call waits for all ranks it lasts from their meeting, after which there is something to
// copy, until the copies are made; a block that fits into the line of the notice comes with it.
// Elsewhere calls overlap: a sender goes on as long as there is room, so that neither trips nor
// switches count, only what the core with most work copies. Between barriers, what a rank waits is
// a matter of how the barrier left them, and a rank whose part is short ends early.
double limit_us(const point& at, const allowance& given) {
  if (given.between_barriers && !(waits_for_all(at.what) && leaves_caches(at))) return 0;
  if (leaves_caches(at)) return memory_limit_ns(at, given) / 1e3;
  constexpr std::size_t beside_a_notice = 56;  // the rest of a cache line
  const arrangement on = arrange(at.ranks, given.cores);
  const copies needed = copies_of(at.what, on);
  const double copying = needed.crossing * given.crossing_ns + needed.near * given.near_ns;
  if (!waits_for_all(at.what)) return copying / 1e3;
  const bool rides_along = at.bytes <= beside_a_notice;
  return (meeting_ns(on, given) + (rides_along ? 0 : copying)) / 1e3;
}

}  // namespace muster::bench
