#include "algos/patterns/members.hpp"

#include <array>
#include <bit>

#include "engine/coro/when_all.hpp"

namespace muster::algos {

members all_ranks(const context& me) {
  return {me.size(), me.rank(), [](const context&, std::size_t number) { return number; }};
}

wire::work_wait combine_ordered(context& me, std::span<std::byte> to, const std::byte* lower,
                                const std::byte* higher) {
  const std::array<const std::byte*, 2> inputs = {lower, higher};
  return me.combine(to.data(), inputs, to.size() / me.call().element());
}

task<> reduce_members(context& me, members who, std::span<std::byte> bytes) {
  const auto rank_of = [&](std::size_t number) { return who.number_to_rank(me, number); };
  pooled<std::byte> theirs(bytes.size());
  for (std::size_t bit = 1; bit < who.count; bit *= 2) {
    if ((who.mine & bit) != 0) {
      co_await me.deliver(rank_of(who.mine - bit), bytes);
      co_return;
    }
    if (who.mine + bit >= who.count) continue;
    co_await me.expect(rank_of(who.mine + bit), theirs);
    co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
  }
}

task<> allreduce_members(context& me, members who, std::span<std::byte> bytes) {
  const std::size_t power = std::bit_floor(who.count);
  const std::size_t extra = who.count - power;  // the first 2 * extra members act as pairs
  const auto rank_of = [&](std::size_t number) { return who.number_to_rank(me, number); };
  pooled<std::byte> theirs(bytes.size());

  const bool paired = who.mine < 2 * extra;
  if (paired && who.mine % 2 == 1) {
    co_await me.deliver(rank_of(who.mine - 1), bytes);
    co_await me.expect(rank_of(who.mine - 1), bytes);
    co_return;
  }
  if (paired) {
    co_await me.expect(rank_of(who.mine + 1), theirs);
    co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
  }
  const std::size_t speaker = paired ? who.mine / 2 : who.mine - extra;
  const auto number_of = [&](std::size_t s) { return s < extra ? 2 * s : s + extra; };
  for (std::size_t distance = 1; distance < power; distance *= 2) {
    const std::size_t partner = speaker ^ distance;
    const std::size_t rank = rank_of(number_of(partner));
    auto outgoing = me.deliver(rank, bytes);
    auto incoming = me.expect(rank, theirs);
    co_await when_all(std::move(outgoing), std::move(incoming));
    if (partner < speaker) {
      co_await combine_ordered(me, bytes, theirs.data(), bytes.data());
    } else {
      co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
    }
  }
  if (paired) co_await me.deliver(rank_of(who.mine + 1), bytes);
}

}  // namespace muster::algos
