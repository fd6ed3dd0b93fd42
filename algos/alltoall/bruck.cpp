// Bruck's alltoall between any ranks, with k ports.
//
//  1  number the blocks of rank r by how far they go: block i is for rank r+i
//  2  for each weight w = 1, k+1, (k+1)^2 … of a digit of these numbers, to base k+1: all blocks
//     with the digit j go on to rank r+jw as one message, for j = 1 … k at once; those of rank r-jw
//     come and take over their numbers
//  3  block i is now that of rank r-i, and is copied to its place
//
// ⌈log N⌉ rounds, to base k+1, whatever N, of at most k messages of about Nm/(k+1) bytes. The
// rotations before and after are only in the numbers, and what comes stays where it came until it
// goes on, so that a block is copied once a round in which it goes, and once at the end. Twice as
// much working memory as a rank sends. For short blocks.
//
// Source: Bruck et al. 1997, as in Qian 2010 (3.4.4).

#include <utility>

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/costs.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/digits.hpp"
#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

/// The blocks that go the same way in the same round.
struct load {
  std::size_t weight;    // of the round's digit
  std::size_t distance;  // in ranks: the digit times its weight
  std::span<std::byte> going;
  std::span<std::byte> coming;
};

struct journey {
  context& me;
  const arguments& call;
  std::size_t base;
  pooled<const std::byte*> at;  // where the block of each number lies
  pooled_list<pooled_list<load>> rounds;

  journey(context& me, const arguments& call)
      : me(me), call(call), base(ports_of(me) + 1), at(me.size()) {
    for (std::size_t i = 0; i < me.size(); ++i) at[i] = call.sent_to(rank_on(i)).data();
    for (std::size_t weight = 1; weight < me.size(); weight *= base) {
      rounds.push_back(loads(weight));
    }
  }

  std::size_t rank_on(std::size_t steps) const { return (me.rank() + steps) % me.size(); }
  std::size_t rank_back(std::size_t steps) const { return rank_on(me.size() - steps); }

private:
  pooled_list<load> loads(std::size_t weight) const {
    pooled_list<load> all;
    for (std::size_t way = weight; way < me.size() && way < base * weight; way += weight) {
      const std::size_t bytes = count_alike(me.size(), way, weight, base) * call.bytes();
      all.push_back({weight, way, me.scratch(bytes), me.scratch(bytes)});
    }
    return all;
  }
};

task<> invite_all(const journey& on) {
  for (const auto& round : on.rounds) {
    for (const load& one : round) {
      co_await on.me.invite(on.rank_back(one.distance), one.coming);
    }
  }
}

task<> carry(journey& on, const load& one) {
  const std::size_t bytes = on.call.bytes();
  std::byte* packed = one.going.data();
  for (std::size_t i = one.distance; i < on.me.size(); i = next_alike(i, one.weight, on.base)) {
    co_await on.me.copy({packed, bytes}, {on.at[i], bytes});
    packed += bytes;
  }
  auto outgoing = on.me.send(on.rank_on(one.distance), one.going);
  auto incoming = on.me.receive(on.rank_back(one.distance), one.coming);
  co_await when_all(std::move(outgoing), std::move(incoming));
  const std::byte* come = one.coming.data();
  for (std::size_t i = one.distance; i < on.me.size(); i = next_alike(i, one.weight, on.base)) {
    on.at[i] = std::exchange(come, come + bytes);
  }
}

task<> run(context& me, const arguments& call) {
  journey on(me, call);
  me.arrive();
  co_await invite_all(on);
  for (const auto& round : on.rounds) {
    pooled_list<task<>> all;
    for (const load& one : round) all.push_back(carry(on, one));
    co_await when_all(std::move(all));
  }
  for (std::size_t i = 0; i < me.size(); ++i) {
    co_await me.copy(call.received_from(on.rank_back(i)), {on.at[i], call.bytes()});
  }
}

node_cost costs(const even_nodes& of, const arguments& call) {
  node_cost result;
  const std::size_t ranks = of.nodes * of.ranks_a_node;
  const std::size_t base = ports_of(call) + 1;
  for (std::size_t weight = 1; weight < ranks; weight *= base) {
    for (std::size_t way = weight; way < ranks && way < base * weight; way += weight) {
      const std::size_t messages = leaving_node(of, way);
      result.messages += messages;
      result.bytes += messages * count_alike(ranks, way, weight, base) * call.bytes();
      result.connections += messages;
    }
  }
  return result;
}

}  // namespace

const algorithm alltoall_bruck = {
    .id = "bruck",
    .what = collective::alltoall,
    .summary = "a block's way in digits, all with the same digit together, k digits at once",
    .source = "Qian 3.4.4",
    .formula =
        "for each distance d = j(k+1)^i, 1<=j<=k, below np: min(p,d)-max(0,p-(np-d)) messages "
        "of all blocks whose i-th digit is j, as many connections",
    .costs = costs,
    .has_ports = true,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
