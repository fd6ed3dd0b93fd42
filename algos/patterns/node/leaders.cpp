#include "algos/patterns/node/leaders.hpp"

#include "algos/patterns/exchange/members.hpp"

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

std::span<std::byte> room_for_leaders_below(context& me, std::size_t bytes) {
  return room_to_reduce(me, node_leaders(me), bytes);
}

task<> leaders_reduce(context& me, std::span<std::byte> bytes, std::span<std::byte> room) {
  return reduce_members(me, node_leaders(me), bytes, bytes, room);
}

task<> leaders_allreduce(context& me, std::span<std::byte> bytes, std::span<std::byte> room) {
  return allreduce_members(me, node_leaders(me), bytes, bytes, room);
}

}  // namespace muster::algos
