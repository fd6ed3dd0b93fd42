#include "algos/patterns/exchange/members.hpp"

#include <array>

#include "algos/patterns/exchange/send_and_receive.hpp"
#include "algos/patterns/trees/folding.hpp"

namespace muster::algos {

members all_ranks(const context& me) {
  return {me.size(), me.rank(), [](const context&, std::size_t number) { return number; }};
}

wire::work_wait combine_ordered(context& me, std::span<std::byte> to, const std::byte* lower,
                                const std::byte* higher) {
  const std::array<const std::byte*, 2> inputs = {lower, higher};
  return me.combine(to.data(), inputs, to.size() / me.call().element());
}

task<> reduce_members(context& me, members who, std::span<std::byte> bytes,
                      std::span<std::byte> room) {
  const auto rank_of = [&](std::size_t number) { return who.number_to_rank(me, number); };
  const std::span<std::byte> theirs = room.first(bytes.size());
  for (std::size_t bit = 1; bit < who.count; bit *= 2) {
    if ((who.mine & bit) != 0) {
      co_await me.send(rank_of(who.mine - bit), bytes);
      co_return;
    }
    if (who.mine + bit >= who.count) continue;
    co_await me.expect(rank_of(who.mine + bit), theirs);
    co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
  }
}

task<> allreduce_members(context& me, members who, std::span<std::byte> bytes,
                         std::span<std::byte> room) {
  const folding fold(who.count, who.mine);
  const auto rank_of = [&](std::size_t number) { return who.number_to_rank(me, number); };
  const std::span<std::byte> theirs = room.first(bytes.size());

  if (!fold.speaks()) {
    co_await me.send(rank_of(fold.partner()), bytes);
    co_await me.expect(rank_of(fold.partner()), bytes);
    co_return;
  }
  if (fold.is_paired()) {
    co_await me.expect(rank_of(fold.partner()), theirs);
    co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
  }
  for (std::size_t distance = 1; distance < fold.speakers(); distance *= 2) {
    const std::size_t other = fold.speaker() ^ distance;
    const std::size_t rank = rank_of(fold.member_of(other));
    co_await send_and_receive(me, rank, bytes, rank, theirs);
    if (other < fold.speaker()) {
      co_await combine_ordered(me, bytes, theirs.data(), bytes.data());
    } else {
      co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
    }
  }
  if (fold.is_paired()) co_await me.send(rank_of(fold.partner()), bytes);
}

}  // namespace muster::algos
