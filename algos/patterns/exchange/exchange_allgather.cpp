#include "algos/patterns/exchange/exchange_allgather.hpp"
#include "algos/patterns/exchange/exchange_groups.hpp"

#include <muster/coro/when_all.hpp>

#include "algos/patterns/call/costs.hpp"

namespace muster::algos {
namespace {

/// One rank's allgather.
struct exchange {
  context& me;
  const arguments& call;
  exchange_groups groups;
  std::size_t group;

  exchange(context& me, const arguments& call, std::size_t ports)
      : me(me), call(call), groups(me.size(), ports), group(groups.group_of(me.rank())) {}

  std::size_t speaker() const { return groups.first(group); }
  /// The blocks of `width` groups, of which `of` is one.
  std::span<std::byte> blocks(std::size_t of, std::size_t width) const {
    const std::size_t begin = exchange_groups::aligned(of, width);
    const std::size_t first = groups.first(begin);
    return {call.received_from(first).data(), (groups.first(begin + width) - first) * call.bytes()};
  }
  std::span<std::byte> all_blocks() const { return blocks(0, groups.count()); }
};

/// A rank that does not speak for its group.
task<> follow(const exchange& in) {
  // In place, its own block has left when it comes again.
  co_await in.me.send(in.speaker(), in.call.own_block(in.me.rank()));
  co_await in.me.expect(in.speaker(), in.all_blocks());
}

/// Every place is free, and nobody sends twice to this rank.
task<> invite_all(const exchange& in) {
  for (std::size_t rank = in.speaker() + 1; rank < in.groups.first(in.group + 1); ++rank) {
    co_await in.me.invite(rank, in.call.received_from(rank));
  }
  for (std::size_t width = 1; width < in.groups.count(); width *= in.groups.base()) {
    for (const std::size_t partner : in.groups.partners(in.group, width)) {
      co_await in.me.invite(in.groups.first(partner), in.blocks(partner, width));
    }
  }
}

task<> collect_group(const exchange& in) {
  pooled_list<task<>> all;
  for (std::size_t rank = in.speaker() + 1; rank < in.groups.first(in.group + 1); ++rank) {
    all.push_back(in.me.receive(rank, in.call.received_from(rank)));
  }
  co_await when_all(std::move(all));
}

task<> exchange_with_partners(const exchange& in, std::size_t width) {
  pooled_list<task<>> all;
  for (const std::size_t partner : in.groups.partners(in.group, width)) {
    const std::size_t rank = in.groups.first(partner);
    all.push_back(in.me.send(rank, in.blocks(in.group, width)));
    all.push_back(in.me.receive(rank, in.blocks(partner, width)));
  }
  co_await when_all(std::move(all));
}

task<> deliver_to_group(const exchange& in) {
  pooled_list<task<>> all;
  for (std::size_t rank = in.speaker() + 1; rank < in.groups.first(in.group + 1); ++rank) {
    all.push_back(in.me.send(rank, in.all_blocks()));
  }
  co_await when_all(std::move(all));
}

}  // namespace

task<> exchange_allgather(context& me, const arguments& call, std::size_t ports) {
  const exchange in(me, call, ports);
  me.arrive();
  if (me.rank() != in.speaker()) co_return co_await follow(in);
  co_await invite_all(in);
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  co_await collect_group(in);
  for (std::size_t width = 1; width < in.groups.count(); width *= in.groups.base()) {
    co_await exchange_with_partners(in, width);
  }
  co_await deliver_to_group(in);
}

node_cost cost_of_exchange(const even_nodes& of, std::size_t ports, std::size_t block) {
  message_tally messages(of);
  const std::size_t ranks = of.nodes * of.ranks_a_node;
  const exchange_groups groups(ranks, ports);
  for (std::size_t group = 0; group < groups.count(); ++group) {
    const std::size_t speaker = groups.first(group);
    for (std::size_t rank = speaker + 1; rank < groups.first(group + 1); ++rank) {
      messages.send(rank, speaker, block);
      messages.send(speaker, rank, ranks * block);
    }
    for (std::size_t width = 1; width < groups.count(); width *= groups.base()) {
      const std::size_t begin = exchange_groups::aligned(group, width);
      const std::size_t bytes = (groups.first(begin + width) - groups.first(begin)) * block;
      for (const std::size_t partner : groups.partners(group, width)) {
        messages.send(speaker, groups.first(partner), bytes);
      }
    }
  }
  return messages.most();
}

}  // namespace muster::algos
