#include "algos/patterns/exchange/members.hpp"

#include <algorithm>
#include <array>

#include "algos/patterns/exchange/send_and_receive.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"
#include "algos/patterns/trees/folding.hpp"

namespace muster::algos {
namespace {

binomial_tree tree_of(members who) { return {who.count, 0, who.mine, 1}; }

}  // namespace

members all_ranks(const context& me) {
  return {me.size(), me.rank(), [](const context&, std::size_t number) { return number; }};
}

wire::work_wait combine_ordered(context& me, std::span<std::byte> to, const std::byte* lower,
                                const std::byte* higher) {
  const std::array<const std::byte*, 2> inputs = {lower, higher};
  return me.combine(to.data(), inputs, to.size() / me.call().element());
}

std::span<std::byte> room_to_reduce(context& me, members who, std::size_t bytes) {
  return me.scratch(std::min<std::size_t>(tree_of(who).children().size(), 2) * bytes);
}

task<> reduce_members(context& me, members who, std::span<const std::byte> own,
                      std::span<std::byte> sum, std::span<std::byte> room) {
  const binomial_tree tree = tree_of(who);
  const auto children = tree.children();
  const auto child = [&](std::size_t i) { return who.number_to_rank(me, children[i].member); };
  const auto room_for = [&](std::size_t i) { return room.subspan(i % 2 * own.size(), own.size()); };
  // Those with the fewest below them are there first, and are next in the members' order.
  std::size_t left = children.size();
  if (left != 0) co_await me.invite(child(left - 1), room_for(left - 1));
  while (left-- != 0) {
    if (left != 0) co_await me.invite(child(left - 1), room_for(left - 1));
    co_await me.receive(child(left), room_for(left));
    co_await combine_ordered(me, sum, own.data(), room_for(left).data());
    own = sum;
  }
  if (tree.is_root()) {
    co_await me.copy(sum, own);  // what a member alone has
  } else {
    co_await me.send(who.number_to_rank(me, tree.parent()), own);
  }
}

task<> allreduce_members(context& me, members who, std::span<const std::byte> own,
                         std::span<std::byte> sum, std::span<std::byte> room) {
  const folding fold(who.count, who.mine);
  const auto rank_of = [&](std::size_t number) { return who.number_to_rank(me, number); };
  const std::span<std::byte> theirs = room.first(own.size());

  if (!fold.speaks()) {
    co_await me.send(rank_of(fold.partner()), own);
    co_await me.expect(rank_of(fold.partner()), sum);
    co_return;
  }
  if (fold.is_paired()) {
    co_await me.expect(rank_of(fold.partner()), theirs);
    co_await combine_ordered(me, sum, own.data(), theirs.data());
    own = sum;
  }
  for (std::size_t distance = 1; distance < fold.speakers(); distance *= 2) {
    const std::size_t other = fold.speaker() ^ distance;
    const std::size_t rank = rank_of(fold.member_of(other));
    co_await send_and_receive(me, rank, own, rank, theirs);
    if (other < fold.speaker()) {
      co_await combine_ordered(me, sum, theirs.data(), own.data());
    } else {
      co_await combine_ordered(me, sum, own.data(), theirs.data());
    }
    own = sum;
  }
  co_await me.copy(sum, own);  // what a member alone has
  if (fold.is_paired()) co_await me.send(rank_of(fold.partner()), sum);
}

}  // namespace muster::algos
