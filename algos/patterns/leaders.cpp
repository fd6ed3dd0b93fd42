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

// With room for each of the leaders right below: what they send travels while others' is combined.
task<> leaders_reduce(context& me, std::span<std::byte> bytes) {
  const std::size_t mine = node_number(me);
  pooled_list<std::size_t> below;
  std::size_t bit = 1;
  for (; bit < me.shape().nodes() && (mine & bit) == 0; bit *= 2) {
    if (mine + bit < me.shape().nodes()) below.push_back(leader_of(me.shape(), mine + bit));
  }
  pooled<std::byte> room(below.size() * bytes.size());
  for (const std::size_t leader : below) co_await me.invite(leader, bytes.size());
  for (std::size_t i = 0; i < below.size(); ++i) {
    const std::span<std::byte> theirs = {room.data() + i * bytes.size(), bytes.size()};
    co_await me.collect(below[i], theirs);
    co_await combine_ordered(me, bytes, bytes.data(), theirs.data());
  }
  if (mine != 0) co_await me.deliver(leader_of(me.shape(), mine - bit), bytes);
}

task<> leaders_allreduce(context& me, std::span<std::byte> bytes) {
  return allreduce_members(me, node_leaders(me), bytes);
}

}  // namespace muster::algos
