// Long allreduce between any ranks, by halves.
//
//  1  where N is no power of two, ranks too many fold: the odd one of a pair hands its vector to
//     the even one, which combines both and speaks for them
//  2  in step s the speakers 2^s apart exchange half of what each still has, and combine the half
//     that they keep
//  3  the same way back, each with what it has of the result
//  4  who speaks for a pair hands the result to the other
//
// 2⌊log2 N⌋ steps, two more where N is no power of two; a speaker sends and receives about twice
// the vector. Distances grow while halves shrink, so that each step joins neighbouring ranges of
// ranks: the order is that of the ranks, wherever they are.
//
// Source: Rabenseifner's algorithm, Thakur, Rabenseifner, Gropp 2005 (4.5).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/send_and_receive.hpp"
#include "algos/patterns/trees/halving.hpp"

namespace muster::algos {
namespace {

task<> gather_halves(context& me, const halving& halves) {
  for (std::size_t distance = halves.last_distance(); distance != 0; distance /= 2) {
    const std::size_t partner = halves.rank_at(distance);
    co_await send_and_receive(me, partner, halves.mine(distance), partner, halves.others(distance));
  }
}

task<> run(context& me, const arguments& call) {
  halving halves(me, call.result());
  const folding& fold = halves.fold();
  me.arrive();
  const std::span<std::byte> room = me.scratch(fold.speaks() ? call.bytes() : 0);
  const auto own = co_await fold_in(me, fold, call.contribution(), call.result(), room);
  if (!fold.speaks()) {
    co_await me.expect(fold.partner(), call.result());
    co_return;
  }
  co_await halves.reduce_scatter(own, room);
  co_await gather_halves(me, halves);
  if (fold.is_paired()) co_await me.send(fold.partner(), call.result());
}

}  // namespace

const algorithm allreduce_rabenseifner = {
    .id = "rabenseifner",
    .what = collective::allreduce,
    .summary = "shrinking halves of the vector combined at doubling distances, and back",
    .source = "Thakur et al. 2005",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
