// Long scan and exclusive scan in the node's memory, segment by segment.
//
//  1  every rank offers its contribution in place, or copies the segment into its stage
//  2  every rank goes through the contributions to its own slice of the segment in rank order and
//     keeps what each rank adds up to: N prefixes of the slice
//  3  every rank collects its own prefix of all slices in the order in which they are ready
//
// Each rank reads N slices of 1/N, writes N and copies N: the traffic of three copies of the
// message a rank, whatever N. All ranks wait for all, where they share the arithmetic; alone, the
// last one would have to go through N contributions.
//
// Source: the pipelined allreduce of Tipparaju, Nieplocha, Panda 2003 (2.4), with slices as in
// Rabenseifner's algorithm, of which each holds every rank's prefix.

#include <array>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/slices.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/reduce_slices.hpp"

namespace muster::algos {
namespace {

/// Segments of which N prefixes of the longest slice fit into one as well.
segments cut_for(const arguments& call, std::size_t ranks) {
  segments cut(call.bytes(), ranks, segments::in_step, call.grain());
  cut.piece *= ranks;
  cut.blocks = 1;
  return cut;
}

slice slice_for(const context& me, std::size_t bytes, std::size_t worker) {
  return slice_of(bytes, worker, me.size(), me.call().grain());
}

/// Where the prefix that ends with rank `last` begins in a worker's slot.
std::size_t place_of_prefix(const context& me, const segments& cut, std::size_t last) {
  return last * (cut.piece / me.size());
}

task<> make_prefixes(context& me, pipeline& in, pipeline& out, std::size_t segment) {
  const slice mine = slice_for(me, in.cut().length(segment), me.rank());
  std::byte* slot = co_await out.slot(segment);
  std::array<const std::byte*, 2> inputs{};  // what those below add up to, and the next
  // Nobody's exclusive prefix ends with the last rank.
  const std::size_t prefixes = me.size() - (me.call().what == collective::exscan ? 1 : 0);
  for (std::size_t i = 0; i < prefixes; ++i) {
    if (i != me.rank()) co_await in.arrived(i, segment);
    if (mine.length == 0) continue;
    inputs[1] = in.piece(i, segment, 0) + mine.offset;
    std::byte* const prefix = slot + place_of_prefix(me, out.cut(), i);
    co_await me.combine(prefix, std::span<const std::byte* const>(inputs).subspan(i == 0 ? 1 : 0),
                        mine.length / me.call().element());
    inputs[0] = prefix;
  }
  in.take(segment);
  out.post(segment);
}

task<> collect_prefix(context& me, pipeline& out, std::size_t segment, std::size_t last,
                      std::span<std::byte> result) {
  const auto place = result.subspan(out.cut().offset(segment), out.cut().length(segment));
  const auto copy_from = [&](std::size_t worker) {
    const slice theirs = slice_for(me, place.size(), worker);
    return me.copy_result(theirs.of(place),
                          out.piece(worker, segment, 0) + place_of_prefix(me, out.cut(), last));
  };
  co_await copy_from(me.rank());
  auto here = out.here(segment);
  while (const auto from = co_await here.next()) co_await copy_from(*from);
}

task<> run(context& me, const arguments& call) {
  const bool exclusive = call.what == collective::exscan;
  const bool receives = !exclusive || me.rank() != 0;
  const segments cut = cut_for(call, me.size());
  pipeline in(me, 0, cut);
  pipeline out(me, 1, cut);
  me.arrive();
  in.lend(call.contribution(), pipeline::lending::for_loads);
  for (std::size_t k = 0; k < cut.count(); ++k) {
    co_await contribute(me, in, call.contribution(), k);
    co_await make_prefixes(me, in, out, k);
    if (receives) {
      co_await collect_prefix(me, out, k, me.rank() - (exclusive ? 1 : 0), call.result());
    }
    out.take(k);
  }
  co_await in.returned();
}

bool prefixes_fit(const shape& ranks, const machine&, const arguments& call) {
  return ranks.nodes() == 1 && elements_fit(call, ranks.size());
}

constexpr algorithm row_of(collective what) {
  return {
      .id = "flat_long",
      .what = what,
      .summary = "every rank makes all prefixes of a slice and collects its own of all",
      .source = "SRM 2.4",
      .needs = "one node",
      .suits = prefixes_fit,
      .stages = pipeline_stages,
      .run = run,
  };
}

}  // namespace

const algorithm scan_flat_long = row_of(collective::scan);
const algorithm exscan_flat_long = row_of(collective::exscan);

}  // namespace muster::algos
