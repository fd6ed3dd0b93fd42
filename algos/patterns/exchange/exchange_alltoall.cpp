#include "algos/patterns/exchange/exchange_alltoall.hpp"

#include <utility>

#include <muster/coro/when_all.hpp>

#include "algos/patterns/exchange/bundled_blocks.hpp"
#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

/// What a speaker exchanges with another.
struct load {
  std::size_t weight;
  std::size_t partner;  // a group
  std::size_t speaker;  // of that
  std::span<std::byte> going;
  std::span<std::byte> coming;
};

/// A rank that speaks for its group.
struct speech {
  context& me;
  const arguments& call;
  bundled_blocks blocks;
  pooled_list<pooled_list<load>> rounds;

  speech(context& me, const arguments& call, const exchange_groups& groups, std::size_t group)
      : me(me), call(call), blocks(me, call, {me.size(), ports_of(me)}, group) {
    for (std::size_t weight = 1; weight < groups.count(); weight *= groups.base()) {
      auto& round = rounds.emplace_back();
      for (const std::size_t partner : groups.partners(group, weight)) {
        round.push_back({weight, partner, groups.first(partner),
                         me.scratch(blocks.bytes_to(partner, weight)),
                         me.scratch(blocks.bytes_from(partner, weight))});
      }
    }
  }

  /// The i-th rank of the group.
  std::size_t member(std::size_t i) const { return me.rank() + i; }
};

/// A rank that does not speak.
task<> follow(context& me, const arguments& call, std::size_t speaker) {
  const std::size_t all = call.bytes() * me.size();
  const std::span<const std::byte> sent(call.sent_to(0).data(), all);
  const std::span<std::byte> received(call.received_from(0).data(), all);
  // In place, what it sends has left when the other comes.
  co_await me.send(speaker, sent);
  co_await me.expect(speaker, received);
}

task<> invite_all(const speech& of) {
  for (std::size_t i = 1; i < of.blocks.ranks(); ++i) {
    co_await of.me.invite(of.member(i), of.blocks.row_of(i));
  }
  for (const auto& round : of.rounds) {
    for (const load& one : round) co_await of.me.invite(one.speaker, one.coming);
  }
}

task<> collect_group(const speech& of) {
  pooled_list<task<>> all;
  for (std::size_t i = 1; i < of.blocks.ranks(); ++i) {
    all.push_back(of.me.receive(of.member(i), of.blocks.row_of(i)));
  }
  co_await when_all(std::move(all));
}

task<> exchange_with(speech& of, const load& one) {
  co_await of.blocks.pack(one.partner, one.weight, one.going);
  auto outgoing = of.me.send(one.speaker, one.going);
  auto incoming = of.me.receive(one.speaker, one.coming);
  co_await when_all(std::move(outgoing), std::move(incoming));
  of.blocks.note_come(one.partner, one.weight, one.coming);
}

task<> hand_over(const speech& of, std::size_t i) {
  const std::span<std::byte> result = of.me.scratch(of.call.bytes() * of.me.size());
  co_await of.blocks.unpack(i, result);
  co_await of.me.send(of.member(i), result);
}

task<> speak(speech& of) {
  co_await invite_all(of);
  co_await collect_group(of);
  for (const auto& round : of.rounds) {
    pooled_list<task<>> all;
    for (const load& one : round) all.push_back(exchange_with(of, one));
    co_await when_all(std::move(all));
  }
  pooled_list<task<>> others;
  for (std::size_t i = 1; i < of.blocks.ranks(); ++i) others.push_back(hand_over(of, i));
  co_await when_all(std::move(others));
  // Last: in place, what this rank had for the others of its group was there.
  const std::span<std::byte> own(of.call.received_from(0).data(), of.call.bytes() * of.me.size());
  co_await of.blocks.unpack(0, own);
}

}  // namespace

task<> exchange_alltoall(context& me, const arguments& call) {
  const exchange_groups groups(me.size(), ports_of(me));
  const std::size_t group = groups.group_of(me.rank());
  me.arrive();
  if (me.rank() != groups.first(group)) co_return co_await follow(me, call, groups.first(group));
  speech of(me, call, groups, group);
  co_await speak(of);
}

}  // namespace muster::algos
