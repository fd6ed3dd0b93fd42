// Long reduce between any ranks, by halves.
//
//  1  where N is no power of two, ranks too many fold: the odd one of a pair hands its vector to
//     the even one, which combines both and speaks for them
//  2  in step s the speakers 2^s apart exchange half of what each still has, and combine the half
//     that they keep
//  3  the same way back, but only towards the one who speaks for the root: of two, one sends what
//     it has of the result and is done
//  4  that one hands the result to the root, if that is the other of its pair
//
// 2⌊log2 N⌋ steps, two more where N is no power of two; the root receives about twice the vector,
// whatever N. Distances grow while halves shrink, so that each step joins neighbouring ranges of
// ranks: the order is that of the ranks, wherever they are.
//
// Source: Rabenseifner's algorithm, Thakur, Rabenseifner, Gropp 2005 (4.5).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/trees/halving.hpp"

namespace muster::algos {
namespace {

task<> gather_halves(context& me, const halving& halves, std::size_t collector) {
  for (std::size_t distance = halves.last_distance(); distance != 0; distance /= 2) {
    if (((halves.fold().speaker() ^ collector) & distance) != 0) {
      co_await me.send(halves.rank_at(distance), halves.mine(distance));
      co_return;
    }
    co_await me.expect(halves.rank_at(distance), halves.others(distance));
  }
}

task<> run(context& me, const arguments& call) {
  const folding fold(me.size(), me.rank());
  const bool at_root = me.rank() == call.root;
  me.arrive();
  const std::size_t needed = fold.speaks() ? call.bytes() : 0;
  const std::span<std::byte> sum = at_root ? call.result() : me.scratch(needed);
  const std::span<std::byte> room = me.scratch(needed);
  const auto own = co_await fold_in(me, fold, call.contribution(), sum, room);
  if (fold.speaks()) {
    halving halves(me, sum);
    co_await halves.reduce_scatter(own, room);
    co_await gather_halves(me, halves, fold.speaker_for(call.root));
    const bool for_root = fold.is_paired() && fold.partner() == call.root;
    if (for_root) co_await me.send(call.root, sum);
  } else if (at_root) {
    co_await me.expect(fold.partner(), sum);
  }
}

}  // namespace

const algorithm reduce_rabenseifner = {
    .id = "rabenseifner",
    .what = collective::reduce,
    .summary = "shrinking halves of the vector combined at doubling distances, and gathered",
    .source = "Thakur et al. 2005",
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
