// Reduce between any ranks.
//
//  1  all ranks combine over a binomial tree towards rank 0: in step s, 2^s apart, the upper of two
//     sends all that it has combined to the lower, which combines it on the right
//  2  rank 0 hands the result to the root, if that is another rank
//
// ⌈log2 N⌉ steps of the whole vector. Each step joins neighbouring ranges of ranks, lower on the
// left, so the order is that of the ranks, wherever they are; nothing is cut, so elements may be of
// any size.
//
// Source: Thakur, Rabenseifner, Gropp 2005 (4.5), rooted at rank 0 to keep the order.

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/members.hpp"

namespace muster::algos {
namespace {

task<> run(context& me, const arguments& call) {
  const bool at_root = me.rank() == call.root;
  me.arrive();
  const members all = all_ranks(me);
  const std::span<std::byte> room = room_to_reduce(me, all, call.bytes());
  const std::span<std::byte> sum =
      at_root ? call.result() : me.scratch(room.empty() ? 0 : call.bytes());
  co_await reduce_members(me, all, call.contribution(), sum, room);
  if (call.root == 0) co_return;
  if (me.rank() == 0) co_await me.send(call.root, sum);
  if (at_root) co_await me.expect(0, call.result());
}

}  // namespace

const algorithm reduce_binomial = {
    .id = "binomial",
    .what = collective::reduce,
    .summary = "a binomial tree over the ranks in their order, whatever their nodes",
    .source = "Thakur et al. 2005",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
