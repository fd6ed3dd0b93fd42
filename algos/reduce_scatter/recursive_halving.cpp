// Reduce-scatter between any ranks by recursive halving, of blocks of any lengths.
//
//  1  where N is no power of two, ranks too many fold: the odd one of a pair hands all it has to
//     the even one, which combines both and speaks for them
//  2  at half the speakers' number, at a quarter, … down to 1: two speakers so far apart exchange
//     the blocks that the other's half of them needs, and combine those that they keep
//  3  who speaks for a pair hands the other its block
//
// ⌊log2 N⌋ steps, two more where N is no power of two; a speaker sends and receives about all
// blocks once. The distant ones are combined first, but always the same ones: for reductions that
// commute.
//
// Source: Thakur, Rabenseifner, Gropp 2005 (4.4).

#include "algos/algorithms.hpp"
#include "algos/patterns/call/slices.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/trees/halving.hpp"

namespace muster::algos {
namespace {

/// All blocks: this rank's own, and then what was combined so far.
struct blocks {
  context& me;
  const arguments& call;
  folding fold;
  std::span<const std::byte> own;
  std::span<std::byte> sum;   // a speaker's, for as many
  std::span<std::byte> room;  // the same, for another's

  std::size_t offset(std::size_t rank) const {
    if (rank == me.size()) return own.size();
    return static_cast<std::size_t>(call.sent_to(rank).data() - call.sent_to(0).data());
  }
  std::span<const std::byte> of_rank(std::size_t rank) const {
    return own.subspan(offset(rank), offset(rank + 1) - offset(rank));
  }
  /// Of all ranks for whom so many speakers speak.
  slice of_speakers(std::size_t first, std::size_t count) const {
    const std::size_t from = offset(fold.member_of(first));
    return {from, offset(fold.member_of(first + count)) - from};
  }
};

task<> combine_halves(blocks& in) {
  std::size_t first = 0;  // of the speakers whose blocks are still combined here
  for (std::size_t half = in.fold.speakers() / 2; half != 0; half /= 2) {
    const bool upper = (in.fold.speaker() & half) != 0;
    const slice given = in.of_speakers(upper ? first : first + half, half);
    if (upper) first += half;
    const slice kept = in.of_speakers(first, half);
    const std::size_t other = in.fold.member_of(in.fold.speaker() ^ half);
    co_await exchange_and_combine(in.me, other, given.of(in.own), kept.of(in.own), kept.of(in.sum),
                                  in.room.first(kept.length));
    in.own = in.sum;
  }
}

task<> run(context& me, const arguments& call) {
  const std::span<const std::byte> given(call.sent_to(0).data(), call.contributed_bytes(me.size()));
  const folding fold(me.size(), me.rank());
  const std::size_t needed = fold.speaks() ? given.size() : 0;
  blocks in{me, call, fold, given, me.scratch(needed), me.scratch(needed)};
  me.arrive();
  in.own = co_await fold_in(me, fold, given, in.sum, in.room);
  if (!in.fold.speaks()) {
    co_await me.expect(in.fold.partner(), call.result());
    co_return;
  }
  co_await combine_halves(in);
  if (in.fold.is_paired()) {
    co_await me.send(in.fold.partner(), in.of_rank(in.fold.partner()));
  }
  co_await me.copy(call.result(), in.of_rank(me.rank()));
}

constexpr algorithm row_of(collective what) {
  return {
      .id = "recursive_halving",
      .what = what,
      .summary = "halves of the blocks exchanged at halving distances",
      .source = "Thakur et al. 2005",
      .suits = any_team_commuting,
      .stages = no_stages,
      .run = run,
  };
}

}  // namespace

const algorithm reduce_scatter_block_recursive_halving = row_of(collective::reduce_scatter_block);
const algorithm reduce_scatter_recursive_halving = row_of(collective::reduce_scatter);

}  // namespace muster::algos
