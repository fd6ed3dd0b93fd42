#include "algos/patterns/exchange/direct_allgather.hpp"

#include <algorithm>

#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/exchange/some_at_a_time.hpp"

namespace muster::algos {
namespace {

using ranks = std::span<const std::size_t>;

task<> invite_all(context& me, const arguments& call, ranks from) {
  for (const std::size_t rank : from) {
    co_await me.invite(rank, call.received_from(rank));
  }
}

task<> collect_in_order(context& me, const arguments& call, ranks from) {
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  for (const std::size_t rank : from) co_await me.receive(rank, call.received_from(rank));
}

task<> send_own(context& me, const arguments& call, ranks to) {
  const auto own = call.own_block(me.rank());
  return transfer_with(to, ports_of(me),
                       [&me, own](std::size_t rank) { return me.send(rank, own); });
}

// ---- aware of arrivals

/// Each waits for its own invitation, so that they go in the order in which those come.
task<> send_as_invited(context& me, const arguments& call) {
  const auto own = call.own_block(me.rank());
  const auto send = [&](std::size_t rank) { return me.send(rank, own); };
  const pooled_list<std::size_t> others = ranks_after(me);
  co_await transfer_with(others, ready_at_once(me), send);
}

task<> send_to_those_here_first(context& me, const arguments& call, ranks here) {
  pooled_list<bool> is_here(me.size());
  for (const std::size_t rank : here) is_here[rank] = true;
  pooled_list<std::size_t> order(here.begin(), here.end());
  for (const std::size_t rank : ranks_after(me)) {
    if (!is_here[rank]) order.push_back(rank);
  }
  co_await send_own(me, call, order);
}

task<> collect_as_they_come(context& me, const arguments& call, ranks here, peer_arrivals& rest) {
  co_await collect_in_order(me, call, here);
  while (const auto from = co_await rest.next()) {
    co_await me.receive(*from, call.received_from(*from));
  }
}

}  // namespace

task<> direct_allgather(context& me, const arguments& call) {
  me.arrive();
  const pooled_list<std::size_t> before = ranks_before(me);
  const pooled_list<std::size_t> after = ranks_after(me);
  co_await invite_all(me, call, before);
  auto outgoing = send_own(me, call, after);
  auto incoming = collect_in_order(me, call, before);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

task<> pap_direct_allgather(context& me, const arguments& call) {
  me.arrive();
  const pooled_list<std::size_t> before = ranks_before(me);
  co_await invite_all(me, call, before);
  auto coming = me.messages_from(before);
  pooled_list<std::size_t> here;
  while (const auto from = coming.next_that_is_here()) here.push_back(*from);
  pooled_list<task<>> both;
  if (me.is_zero_copy(call.own_block(me.rank()).size())) {
    both.push_back(send_as_invited(me, call));
  } else {
    both.push_back(send_to_those_here_first(me, call, here));
  }
  both.push_back(collect_as_they_come(me, call, here, coming));
  co_await when_all(std::move(both));
}

node_cost cost_of_direct_allgatherv(const even_nodes& of, const arguments& call) {
  const std::size_t elsewhere = (of.nodes - 1) * of.ranks_a_node;
  node_cost most = cost_of_direct(of, 0);
  for (std::size_t node = 0; node < of.nodes; ++node) {
    std::size_t blocks = 0;
    for (std::size_t i = 0; i < of.ranks_a_node; ++i) {
      blocks += block_from(node * of.ranks_a_node + i, call);
    }
    most.bytes = std::max(most.bytes, elsewhere * blocks);
  }
  return most;
}

}  // namespace muster::algos
