// Allreduce between any ranks.
//
//  in step s: exchange all that was combined so far with the rank 2^s apart, and combine it, the
//  lower rank's on the left
//
// ⌈log2 N⌉ exchanges of the whole vector, two steps more where N is no power of two. Each step
// joins neighbouring ranges of ranks, so the order is that of the ranks, wherever they are, and the
// bits are the same on all; nothing is cut, so elements may be of any size.
//
// Source: Thakur, Rabenseifner, Gropp 2005 (4.5).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/members.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  me.arrive();
  const std::span<std::byte> room = me.scratch(call.bytes());
  co_await allreduce_members(me, all_ranks(me), call.contribution(), call.result(), room);
}

}  // namespace

const algorithm allreduce_recursive_doubling = {
    .id = "recursive_doubling",
    .what = collective::allreduce,
    .summary = "exchanges at doubling distances over the ranks in their order",
    .source = "Thakur et al. 2005",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
