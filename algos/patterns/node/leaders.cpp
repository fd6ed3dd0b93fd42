#include "algos/patterns/node/leaders.hpp"

#include "algos/patterns/exchange/members.hpp"
#include "algos/patterns/trees/binomial_blocks.hpp"

namespace muster::algos {
namespace {

members node_leaders(const context& me) {
  return {me.shape().nodes(), node_number(me),
          [](const context& of, std::size_t node) { return leader_of(of.shape(), node); }};
}

binomial_tree tree_of_leaders(const context& me) {
  return {me.shape().nodes(), 0, node_number(me), 1};
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

std::span<std::byte> room_for_leaders_below(context& me, std::size_t bytes) {
  return me.scratch(tree_of_leaders(me).children().size() * bytes);
}

task<> leaders_reduce(context& me, std::span<std::byte> bytes, std::span<std::byte> room) {
  const binomial_tree tree = tree_of_leaders(me);
  const auto children = tree.children();
  const auto leader = [&](std::size_t node) { return leader_of(me.shape(), node); };
  const auto room_for = [&](std::size_t child) {
    return room.subspan(child * bytes.size(), bytes.size());
  };
  for (std::size_t i = 0; i < children.size(); ++i) {
    co_await me.invite(leader(children[i].member), room_for(i));
  }
  // Those with the fewest below them are there first, and are next in rank order.
  for (std::size_t i = children.size(); i-- > 0;) {
    co_await me.receive(leader(children[i].member), room_for(i));
    co_await combine_ordered(me, bytes, bytes.data(), room_for(i).data());
  }
  if (!tree.is_root()) co_await me.send(leader(tree.parent()), bytes);
}

task<> leaders_allreduce(context& me, std::span<std::byte> bytes, std::span<std::byte> room) {
  return allreduce_members(me, node_leaders(me), bytes, room);
}

}  // namespace muster::algos
