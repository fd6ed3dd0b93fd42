#include "algos/patterns/leaders.hpp"

#include "algos/patterns/members.hpp"

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
    co_await me.deliver(leader_of(me.shape(), (mine + distance) % nodes), {});
    co_await me.expect(leader_of(me.shape(), (mine + nodes - distance) % nodes), {});
  }
}

task<> leaders_reduce(context& me, std::span<std::byte> bytes) {
  return reduce_members(me, node_leaders(me), bytes);
}

task<> leaders_allreduce(context& me, std::span<std::byte> bytes) {
  return allreduce_members(me, node_leaders(me), bytes);
}

}  // namespace muster::algos
