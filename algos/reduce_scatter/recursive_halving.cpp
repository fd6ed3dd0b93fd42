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
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/trees/halving.hpp"

namespace muster::algos {
namespace {

/// A copy of all blocks, which holds what was combined so far.
struct blocks {
  context& me;
  const arguments& call;
  folding fold;
  std::span<std::byte> all;
  std::span<std::byte> room;  // a speaker's, for as many of another

  std::size_t offset(std::size_t rank) const {
    if (rank == me.size()) return all.size();
    return static_cast<std::size_t>(call.sent_to(rank).data() - call.sent_to(0).data());
  }
  std::span<std::byte> of_rank(std::size_t rank) const {
    return all.subspan(offset(rank), offset(rank + 1) - offset(rank));
  }
  /// Of all ranks for whom so many speakers speak.
  std::span<std::byte> of_speakers(std::size_t first, std::size_t count) const {
    const std::size_t from = offset(fold.member_of(first));
    return all.subspan(from, offset(fold.member_of(first + count)) - from);
  }
};

task<> combine_halves(const blocks& in) {
  std::size_t first = 0;  // of the speakers whose blocks are still combined here
  for (std::size_t half = in.fold.speakers() / 2; half != 0; half /= 2) {
    const bool upper = (in.fold.speaker() & half) != 0;
    const auto given = in.of_speakers(upper ? first : first + half, half);
    if (upper) first += half;
    const auto kept = in.of_speakers(first, half);
    const std::size_t other = in.fold.member_of(in.fold.speaker() ^ half);
    const std::span<std::byte> theirs = in.room.first(kept.size());
    co_await exchange_and_combine(in.me, other, given, kept, theirs);
  }
}

task<> run(context& me, const arguments& call) {
  const std::span<const std::byte> given(call.sent_to(0).data(), call.contributed_bytes(me.size()));
  const folding fold(me.size(), me.rank());
  const blocks in{me, call, fold, me.scratch(given.size()),
                  me.scratch(fold.speaks() ? given.size() : 0)};
  me.arrive();
  co_await me.copy(in.all, given);
  co_await fold_in(me, in.fold, in.all, in.room);
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
