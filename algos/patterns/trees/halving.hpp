#pragma once

#include <span>

#include <muster/run/context.hpp>

#include "algos/patterns/trees/folding.hpp"

/// Recursive halving: all ranks' vectors are combined by shrinking halves of them.
namespace muster::algos {

/// What each of a power of two of speakers, who stand for all ranks, combines of the vector: step
/// by step half of what it had, with the speaker at twice the distance of the step before. So each
/// step joins neighbouring ranges of ranks, and everything is combined in rank order.
class halving {
public:
  halving(context& me, std::span<std::byte> whole) noexcept
      : me_(me), whole_(whole), fold_(me.size(), me.rank()) {}

  const folding& fold() const noexcept { return fold_; }
  std::size_t rank_at(std::size_t distance) const noexcept {
    return fold_.member_of(fold_.speaker() ^ distance);
  }
  /// What this rank has left after the step of that distance, and what the other one there has.
  std::span<std::byte> mine(std::size_t distance) const { return kept(fold_.speaker(), distance); }
  std::span<std::byte> others(std::size_t distance) const {
    return kept(fold_.speaker() ^ distance, distance);
  }
  std::size_t last_distance() const noexcept { return fold_.speakers() / 2; }

  /// Makes each speaker's last part of the vector the result. ⌊log2 N⌋ steps.
  /// \param own  its own vector, in which all was folded; perhaps the same memory
  /// \param room for a vector
  task<> reduce_scatter(std::span<const std::byte> own, std::span<std::byte> room);

private:
  std::span<std::byte> kept(std::size_t speaker, std::size_t distance) const;

  context& me_;
  std::span<std::byte> whole_;
  folding fold_;
};

/// Exchanges vectors, or parts of one, with a rank: sends `given`, and combines what comes with
/// `own` into `sum`, which may be the same, by rank. There is `room` for what comes.
task<> exchange_and_combine(context& me, std::size_t rank, std::span<const std::byte> given,
                            std::span<const std::byte> own, std::span<std::byte> sum,
                            std::span<std::byte> room);

/// Of a pair, the one who does not speak hands over its `own` vector, which the other, who has
/// `room` for it, combines with its own into `sum`. Where the vector is that a rank speaks for:
/// `sum`, or `own` where it speaks for itself.
task<std::span<const std::byte>> fold_in(context& me, const folding& fold,
                                         std::span<const std::byte> own, std::span<std::byte> sum,
                                         std::span<std::byte> room);

}  // namespace muster::algos
