#include "algos/patterns/exchange/bruck_allgather.hpp"

#include <muster/coro/when_all.hpp>

#include "algos/patterns/exchange/ports.hpp"

namespace muster::algos {
namespace {

/// Room for everybody's block: first this rank's, then that of the next rank, and so on, going
/// round.
class rotated_blocks {
public:
  rotated_blocks(context& me, const arguments& call) : me_(me), call_(call), begin_(me.size() + 1) {
    for (std::size_t i = 0; i < me.size(); ++i) begin_[i + 1] = begin_[i] + place(i).size();
    room_ = me.scratch(begin_.back());
  }

  std::size_t rank_on(std::size_t distance) const { return (me_.rank() + distance) % me_.size(); }
  std::size_t rank_back(std::size_t distance) const {
    return (me_.rank() + me_.size() - distance) % me_.size();
  }
  std::span<std::byte> blocks(std::size_t first, std::size_t count) const {
    return room_.subspan(begin_[first], begin_[first + count] - begin_[first]);
  }
  /// To where they belong, those at once that follow each other there, too.
  task<> shift() const {
    std::size_t next = 0;
    while (next < me_.size()) {
      const std::size_t first = next++;
      std::span<std::byte> to = place(first);
      while (next < me_.size() && place(next).data() == to.data() + to.size()) {
        to = {to.data(), to.size() + place(next++).size()};
      }
      co_await me_.copy(to, blocks(first, next - first));
    }
  }

private:
  std::span<std::byte> place(std::size_t i) const { return call_.received_from(rank_on(i)); }

  context& me_;
  const arguments& call_;
  pooled_list<std::size_t> begin_;
  std::span<std::byte> room_;
};

task<> invite_all(context& me, const rotated_blocks& room, std::size_t ports) {
  for (std::size_t held = 1; held < me.size(); held *= ports + 1) {
    for (const bruck_exchange& each : bruck_step(held, me.size(), ports)) {
      co_await me.invite(room.rank_on(each.distance), room.blocks(each.distance, each.blocks));
    }
  }
}

task<> take_step(context& me, const rotated_blocks& room, std::size_t held, std::size_t ports) {
  pooled_list<task<>> all;
  for (const bruck_exchange& each : bruck_step(held, me.size(), ports)) {
    all.push_back(me.send(room.rank_back(each.distance), room.blocks(0, each.blocks)));
    all.push_back(me.receive(room.rank_on(each.distance), room.blocks(each.distance, each.blocks)));
  }
  co_await when_all(std::move(all));
}

}  // namespace

task<> bruck_allgather(context& me, const arguments& call) {
  me.arrive();
  const std::size_t ports = ports_of(me);
  const rotated_blocks room(me, call);
  co_await invite_all(me, room, ports);
  co_await me.copy(room.blocks(0, 1), call.own_block(me.rank()));
  for (std::size_t held = 1; held < me.size(); held *= ports + 1) {
    co_await take_step(me, room, held, ports);
  }
  co_await room.shift();
}

}  // namespace muster::algos
