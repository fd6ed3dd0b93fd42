#include "algos/patterns/rings/slice_ring.hpp"

#include <muster/coro/when_all.hpp>

#include "algos/patterns/call/slices.hpp"
#include "algos/patterns/exchange/members.hpp"

namespace muster::algos {
namespace {

std::size_t next_rank(const context& me) { return (me.rank() + 1) % me.size(); }
std::size_t rank_before(const context& me) { return (me.rank() + me.size() - 1) % me.size(); }

/// Lets the rank before this one send a slice, if there is a step in which it does.
task<> invite(context& me, std::size_t step, std::span<std::byte> slice) {
  if (step < me.size()) co_await me.invite(rank_before(me), slice);
}

/// Sends a slice on while the next one comes.
task<> pass_on(context& me, std::span<const std::byte> slice, std::span<std::byte> next) {
  auto outgoing = me.send(next_rank(me), slice);
  auto incoming = me.receive(rank_before(me), next);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

}  // namespace

std::span<std::byte> slices_from(const context& me, std::span<std::byte> whole, std::size_t first,
                                 std::size_t count) {
  const auto slice_number = [&](std::size_t number) {
    return slice_of(whole.size(), number, me.size(), me.call().grain());
  };
  const std::size_t from = slice_number(first).offset;
  const slice last = slice_number(first + count - 1);
  return whole.subspan(from, last.offset + last.length - from);
}

// Both invite a step ahead, so that the rank before need not wait for it.

task<> allgather_slices(context& me, std::span<std::byte> whole, std::size_t held) {
  const auto coming = [&](std::size_t step) {
    return slice_at(me, whole, held + me.size() - step);
  };
  co_await invite(me, 1, coming(1));
  for (std::size_t step = 1; step < me.size(); ++step) {
    co_await invite(me, step + 1, coming(step + 1));
    co_await pass_on(me, coming(step - 1), coming(step));
  }
}

task<> reduce_scatter_slices(context& me, std::span<const std::byte> own,
                             std::span<std::byte> whole) {
  const auto coming = [&](std::size_t step) {
    return slice_at(me, whole, me.rank() + me.size() - step);
  };
  const std::size_t longest = slice_at(me, whole, 0).size();
  const std::span<std::byte> rooms = me.scratch(2 * longest);
  const auto room = [&](std::size_t step) {
    return rooms.subspan(step % 2 * longest, coming(step).size());
  };
  co_await invite(me, 1, room(1));
  for (std::size_t step = 1; step < me.size(); ++step) {
    co_await invite(me, step + 1, room(step + 1));
    const std::span<const std::byte> before = coming(step - 1);
    co_await pass_on(me, step == 1 ? place_of(before, whole).of(own) : before, room(step));
    const std::span<std::byte> mine = coming(step);
    co_await combine_ordered(me, mine, room(step).data(), place_of(mine, whole).of(own).data());
  }
  if (me.size() == 1) co_await me.copy(whole, own);
}

}  // namespace muster::algos
