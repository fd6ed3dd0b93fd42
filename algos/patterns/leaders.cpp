#include "algos/patterns/leaders.hpp"

#include <array>
#include <bit>

#include "engine/coro/when_all.hpp"

namespace muster::algos {
namespace {

/// `to = lower op higher`, where `to` is one of them: node order whoever combines.
wire::work_wait combine_ordered(context& me, std::span<std::byte> to, const std::byte* lower,
                                const std::byte* higher) {
  const std::array<const std::byte*, 2> inputs = {lower, higher};
  return me.combine(to.data(), inputs, to.size() / me.call().element());
}

}  // namespace

task<> leaders_barrier(context& me) {
  const std::size_t nodes = me.shape().nodes();
  const std::size_t mine = node_number(me);
  for (std::size_t distance = 1; distance < nodes; distance *= 2) {
    co_await me.deliver(leader_of(me.shape(), (mine + distance) % nodes), {});
    co_await me.expect(leader_of(me.shape(), (mine + nodes - distance) % nodes), {});
  }
}

task<> leaders_reduce(context& me, std::span<std::byte> bytes) {
  const std::size_t nodes = me.shape().nodes();
  const std::size_t mine = node_number(me);
  pooled<std::byte> theirs(bytes.size());
  for (std::size_t bit = 1; bit < nodes; bit *= 2) {
    if ((mine & bit) != 0) {
      co_await me.deliver(leader_of(me.shape(), mine - bit), bytes);
      co_return;
    }
    if (mine + bit >= nodes) continue;
    co_await me.expect(leader_of(me.shape(), mine + bit), theirs);
    co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
  }
}

task<> leaders_allreduce(context& me, std::span<std::byte> bytes) {
  const std::size_t nodes = me.shape().nodes();
  const std::size_t mine = node_number(me);
  const std::size_t power = std::bit_floor(nodes);
  const std::size_t extra = nodes - power;  // the first 2 * extra nodes act as pairs
  const auto leader = [&](std::size_t node) { return leader_of(me.shape(), node); };
  pooled<std::byte> theirs(bytes.size());

  const bool paired = mine < 2 * extra;
  if (paired && mine % 2 == 1) {
    co_await me.deliver(leader(mine - 1), bytes);
    co_await me.expect(leader(mine - 1), bytes);
    co_return;
  }
  if (paired) {
    co_await me.expect(leader(mine + 1), theirs);
    co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
  }
  const std::size_t member = paired ? mine / 2 : mine - extra;
  const auto node_of_member = [&](std::size_t m) { return m < extra ? 2 * m : m + extra; };
  for (std::size_t distance = 1; distance < power; distance *= 2) {
    const std::size_t partner = member ^ distance;
    const std::size_t rank = leader(node_of_member(partner));
    auto outgoing = me.deliver(rank, bytes);
    auto incoming = me.expect(rank, theirs);
    co_await when_all(std::move(outgoing), std::move(incoming));
    if (partner < member) {
      co_await combine_ordered(me, bytes, theirs.data(), bytes.data());
    } else {
      co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
    }
  }
  if (paired) co_await me.deliver(leader(mine + 1), bytes);
}

}  // namespace muster::algos
