#include "algos/patterns/exchange/exchange_alltoall.hpp"

#include <utility>

#include <muster/coro/when_all.hpp>

#include "algos/patterns/exchange/exchange_bundles.hpp"
#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

/// What a speaker exchanges with another.
struct load {
  std::size_t weight;
  std::size_t first_place;
  std::size_t speaker;
  std::span<std::byte> going;
  std::span<std::byte> coming;
};

/// A rank that speaks for its group.
struct speech {
  context& me;
  const arguments& call;
  exchange_bundles bundles;
  std::size_t group;
  pooled_list<std::span<const std::byte>> sent;  // by each rank of the group
  pooled_list<std::span<std::byte>> collected;   // the same, but for this rank
  pooled_list<const std::byte*> at;  // where bundles lie that came; others are in `sent`
  pooled_list<pooled_list<load>> rounds;

  speech(context& me, const arguments& call, std::size_t group)
      : me(me), call(call), bundles(me.size(), ports_of(me)), group(group) {
    const std::size_t all = call.bytes() * me.size();
    sent.push_back({call.sent_to(0).data(), all});
    while (sent.size() < bundles.ranks_in(group)) {
      sent.push_back(collected.emplace_back(me.scratch(all)));
    }
    at.resize(groups().count());
    for (std::size_t weight = 1; weight < groups().count(); weight *= groups().base()) {
      rounds.push_back(loads(weight));
    }
  }

  const exchange_groups& groups() const { return bundles.groups(); }
  std::size_t member(std::size_t i) const { return me.rank() + i; }

private:
  pooled_list<load> loads(std::size_t weight) const {
    pooled_list<load> all;
    for (const std::size_t partner : groups().partners(group, weight)) {
      const std::size_t going = bundles.blocks_to(partner, group, weight) * call.bytes();
      const std::size_t coming = bundles.blocks_to(group, partner, weight) * call.bytes();
      all.push_back({weight, bundles.first_place(partner, weight), groups().first(partner),
                     me.scratch(going), me.scratch(coming)});
    }
    return all;
  }
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
  for (std::size_t i = 1; i < of.sent.size(); ++i) {
    co_await of.me.invite(of.member(i), of.collected[i - 1]);
  }
  for (const auto& round : of.rounds) {
    for (const load& one : round) co_await of.me.invite(one.speaker, one.coming);
  }
}

task<> collect_group(const speech& of) {
  pooled_list<task<>> all;
  for (std::size_t i = 1; i < of.sent.size(); ++i) {
    all.push_back(of.me.receive(of.member(i), of.collected[i - 1]));
  }
  co_await when_all(std::move(all));
}

task<> pack(const speech& of, std::size_t place, std::span<std::byte> to) {
  if (of.at[place] != nullptr) {
    co_await of.me.copy(to, {of.at[place], to.size()});
    co_return;
  }
  const std::size_t begin = of.groups().first(place) * of.call.bytes();
  const std::size_t length = of.bundles.ranks_in(place) * of.call.bytes();
  for (const auto& row : of.sent) {
    co_await of.me.copy(to.first(length), row.subspan(begin, length));
    to = to.subspan(length);
  }
}

task<> exchange_with(speech& of, const load& one) {
  std::span<std::byte> room = one.going;
  for (std::size_t place = one.first_place; place < of.at.size();
       place = of.bundles.next_place(place, one.weight)) {
    const std::size_t bytes = of.bundles.blocks(of.group, place, one.weight) * of.call.bytes();
    co_await pack(of, place, room.first(bytes));
    room = room.subspan(bytes);
  }
  auto outgoing = of.me.send(one.speaker, one.going);
  auto incoming = of.me.receive(one.speaker, one.coming);
  co_await when_all(std::move(outgoing), std::move(incoming));
  const std::byte* come = one.coming.data();
  const std::size_t next_weight = one.weight * of.groups().base();
  for (std::size_t place = one.first_place; place < of.at.size();
       place = of.bundles.next_place(place, one.weight)) {
    of.at[place] = come;
    come += of.bundles.blocks(of.group, place, next_weight) * of.call.bytes();
  }
}

/// What came for one rank of the group, in the order of the ranks from which it came.
task<> unpack(const speech& of, std::size_t member, std::span<std::byte> result) {
  const std::size_t bytes = of.call.bytes();
  for (std::size_t place = 0; place < of.at.size(); ++place) {
    for (std::size_t i = 0; i < of.bundles.ranks_in(place); ++i) {
      const std::byte* const block = place == of.group
                                         ? of.sent[i].data() + of.member(member) * bytes
                                         : of.at[place] + (i * of.sent.size() + member) * bytes;
      co_await of.me.copy(result.first(bytes), {block, bytes});
      result = result.subspan(bytes);
    }
  }
}

task<> hand_over(const speech& of, std::size_t member) {
  const std::span<std::byte> result = of.me.scratch(of.sent[member].size());
  co_await unpack(of, member, result);
  co_await of.me.send(of.member(member), result);
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
  for (std::size_t i = 1; i < of.sent.size(); ++i) others.push_back(hand_over(of, i));
  co_await when_all(std::move(others));
  // Last: in place, what this rank had for the others of its group was there.
  const std::span<std::byte> own(of.call.received_from(0).data(), of.sent[0].size());
  co_await unpack(of, 0, own);
}

}  // namespace

task<> exchange_alltoall(context& me, const arguments& call) {
  const exchange_groups groups(me.size(), ports_of(me));
  const std::size_t group = groups.group_of(me.rank());
  me.arrive();
  if (me.rank() != groups.first(group)) co_return co_await follow(me, call, groups.first(group));
  speech of(me, call, group);
  co_await speak(of);
}

}  // namespace muster::algos
