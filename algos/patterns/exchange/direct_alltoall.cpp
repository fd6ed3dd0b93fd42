#include "algos/patterns/exchange/direct_alltoall.hpp"

#include <utility>

#include "algos/patterns/call/outgoing_blocks.hpp"
#include "algos/patterns/exchange/ports.hpp"
#include "algos/patterns/exchange/some_at_a_time.hpp"

namespace muster::algos {
namespace {

using ranks = std::span<const std::size_t>;

/// One rank's alltoall.
struct exchange {
  context& me;
  const arguments& call;
  outgoing_blocks blocks;

  exchange(context& me, const arguments& call) : me(me), call(call), blocks(me, call) {}

  task<> send(std::size_t to) const { return me.send(to, blocks[to]); }
  task<> receive(std::size_t from) const { return me.receive(from, call.received_from(from)); }
};

task<> invite_all(const exchange& in, ranks from) {
  for (const std::size_t rank : from) {
    co_await in.me.invite(rank, in.call.received_from(rank));
  }
}

task<> keep_own(const exchange& in) {
  const std::size_t own = in.me.rank();
  co_await in.me.copy(in.call.received_from(own), in.blocks[own]);
}

task<> send_in_order(const exchange& in, ranks to) {
  return transfer_with(to, ports_of(in.me), [&in](std::size_t rank) { return in.send(rank); });
}

task<> receive_in_order(const exchange& in, ranks from) {
  co_await keep_own(in);
  const auto receive = [&](std::size_t rank) { return in.receive(rank); };
  co_await transfer_with(from, ports_of(in.me), receive);
}

// ---- aware of arrivals

/// The order in which to send blocks that need no invitation, and what waits for one.
struct sending_order {
  pooled_list<std::size_t> at_once;
  pooled_list<std::size_t> as_invited;
};

/// Those that have been heard of first, then the others from the next rank on.
sending_order order_of(const exchange& in, ranks heard) {
  sending_order order;
  pooled_list<bool> is_heard(in.me.size());
  for (const std::size_t rank : heard) {
    is_heard[rank] = true;
    if (!in.me.is_zero_copy(in.blocks[rank].size())) order.at_once.push_back(rank);
  }
  for (const std::size_t rank : ranks_after(in.me)) {
    if (in.me.is_zero_copy(in.blocks[rank].size())) {
      order.as_invited.push_back(rank);
    } else if (!is_heard[rank]) {
      order.at_once.push_back(rank);
    }
  }
  return order;
}

task<> send_by_arrival(const exchange& in, const sending_order& order) {
  co_await send_in_order(in, order.at_once);
  // Each waits for its own invitation, so that they go in the order in which those come.
  const auto send = [&](std::size_t rank) { return in.send(rank); };
  co_await transfer_with(order.as_invited, ready_at_once(in.me), send);
}

task<> receive_by_arrival(const exchange& in, ranks heard, peer_arrivals& rest) {
  co_await keep_own(in);
  for (const std::size_t rank : heard) co_await in.receive(rank);
  while (const auto from = co_await rest.next()) co_await in.receive(*from);
}

}  // namespace

task<> direct_alltoall(context& me, const arguments& call) {
  const exchange in(me, call);
  me.arrive();
  const pooled_list<std::size_t> before = ranks_before(me);
  const pooled_list<std::size_t> after = ranks_after(me);
  co_await invite_all(in, before);
  auto outgoing = send_in_order(in, after);
  auto incoming = receive_in_order(in, before);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

task<> pap_direct_alltoall(context& me, const arguments& call) {
  const exchange in(me, call);
  me.arrive();
  const pooled_list<std::size_t> before = ranks_before(me);
  co_await invite_all(in, before);
  auto coming = me.messages_from(before);
  pooled_list<std::size_t> heard;
  while (const auto from = coming.next_that_is_here()) heard.push_back(*from);
  const sending_order order = order_of(in, heard);
  auto outgoing = send_by_arrival(in, order);
  auto incoming = receive_by_arrival(in, heard, coming);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

}  // namespace muster::algos
