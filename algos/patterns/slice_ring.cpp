#include "algos/patterns/slice_ring.hpp"

#include "algos/patterns/members.hpp"
#include "algos/patterns/send_and_receive.hpp"
#include "algos/patterns/slices.hpp"

namespace muster::algos {
namespace {

std::size_t next_rank(const context& me) { return (me.rank() + 1) % me.size(); }
std::size_t rank_before(const context& me) { return (me.rank() + me.size() - 1) % me.size(); }

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

task<> allgather_slices(context& me, std::span<std::byte> whole, std::size_t held) {
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t coming = held + me.size() - step;
    co_await send_and_receive(me, next_rank(me), slice_at(me, whole, coming + 1), rank_before(me),
                              slice_at(me, whole, coming));
  }
}

task<> reduce_scatter_slices(context& me, std::span<std::byte> whole) {
  pooled<std::byte> room(slice_at(me, whole, 0).size());  // none is longer
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t coming = me.rank() + me.size() - step;
    const std::span<std::byte> mine = slice_at(me, whole, coming);
    const std::span<std::byte> theirs = {room.data(), mine.size()};
    co_await send_and_receive(me, next_rank(me), slice_at(me, whole, coming + 1), rank_before(me),
                              theirs);
    co_await combine_ordered(me, mine, theirs.data(), mine.data());
  }
}

}  // namespace muster::algos
