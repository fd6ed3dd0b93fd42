#include "algos/patterns/node/leaders.hpp"

#include "algos/patterns/exchange/members.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

members node_leaders(const context& me) {
  return {me.shape().nodes(), node_number(me),
          [](const context& of, std::size_t node) { return leader_of(of.shape(), node); }};
}

}  // namespace

task<> leaders_barrier(context& me) {
  const std::size_t nodes = me.shape().nodes();
  const std::size_t mine = node_number(me);
  for (std::size_t distance = 1; distance < nodes; distance *= 2) {
    co_await me.send(leader_of(me.shape(), (mine + distance) % nodes), {});
    co_await me.expect(leader_of(me.shape(), (mine + nodes - distance) % nodes), {});
  }
}

// With room for each of the leaders right below: what they send travels while others' is combined.
task<> leaders_reduce(context& me, std::span<std::byte> bytes) {
  const binomial_tree tree(me.shape().nodes(), 0, node_number(me), 1);
  const auto children = tree.children();
  const auto leader = [&](std::size_t node) { return leader_of(me.shape(), node); };
  pooled<std::byte> room(children.size() * bytes.size());
  for (const auto& child : children) co_await me.invite(leader(child.member), bytes.size());
  // Those with the fewest below them are there first, and are next in rank order.
  for (std::size_t i = children.size(); i-- > 0;) {
    const std::span<std::byte> theirs = {room.data() + i * bytes.size(), bytes.size()};
    co_await me.receive(leader(children[i].member), theirs);
    co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
  }
  if (!tree.is_root()) co_await me.send(leader(tree.parent()), bytes);
}

task<> leaders_allreduce(context& me, std::span<std::byte> bytes) {
  return allreduce_members(me, node_leaders(me), bytes);
}

}  // namespace muster::algos
