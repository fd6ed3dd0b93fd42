#include "algos/patterns/trees/halving.hpp"

#include "algos/patterns/call/slices.hpp"
#include "algos/patterns/exchange/members.hpp"
#include "algos/patterns/exchange/send_and_receive.hpp"

namespace muster::algos {

std::span<std::byte> halving::kept(std::size_t speaker, std::size_t distance) const {
  const auto offset_of = [&](std::size_t number) {
    return slice_of(whole_.size(), number, fold_.speakers(), me_.call().grain()).offset;
  };
  std::size_t first = 0;
  std::size_t count = fold_.speakers();
  for (std::size_t bit = 1; bit <= distance; bit *= 2) {
    count /= 2;
    if ((speaker & bit) != 0) first += count;
  }
  return whole_.subspan(offset_of(first), offset_of(first + count) - offset_of(first));
}

task<> halving::reduce_scatter(std::span<const std::byte> own, std::span<std::byte> room) {
  for (std::size_t distance = 1; distance < fold_.speakers(); distance *= 2) {
    const std::span<std::byte> kept = mine(distance);
    const auto in_own = [&](std::span<std::byte> part) { return place_of(part, whole_).of(own); };
    co_await exchange_and_combine(me_, rank_at(distance), in_own(others(distance)), in_own(kept),
                                  kept, room.first(kept.size()));
    own = whole_;
  }
  co_await me_.copy(whole_, own);  // what a rank alone has
}

task<> exchange_and_combine(context& me, std::size_t rank, std::span<const std::byte> given,
                            std::span<const std::byte> own, std::span<std::byte> sum,
                            std::span<std::byte> room) {
  co_await send_and_receive(me, rank, given, rank, room);
  if (rank < me.rank()) {
    co_await combine_ordered(me, sum, room.data(), own.data());
  } else {
    co_await combine_ordered(me, sum, own.data(), room.data());
  }
}

task<std::span<const std::byte>> fold_in(context& me, const folding& fold,
                                         std::span<const std::byte> own, std::span<std::byte> sum,
                                         std::span<std::byte> room) {
  if (!fold.is_paired()) co_return own;
  if (!fold.speaks()) {
    co_await me.send(fold.partner(), own);
    co_return own;
  }
  const std::span<std::byte> theirs = room.first(own.size());
  co_await me.expect(fold.partner(), theirs);
  co_await combine_ordered(me, sum, own.data(), theirs.data());
  co_return sum;
}

}  // namespace muster::algos
