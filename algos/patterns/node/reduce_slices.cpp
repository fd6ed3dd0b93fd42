#include "algos/patterns/node/reduce_slices.hpp"

#include "algos/patterns/call/slices.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"

namespace muster::algos {

task<> contribute(context& me, track& in, std::span<const std::byte> contribution, std::size_t item,
                  std::size_t readers) {
  if (in.lent()) co_return;
  std::byte* room = co_await in.room(item, readers);
  const std::size_t length = in.cut().length(item);
  co_await me.stage({room, length}, contribution.subspan(in.cut().offset(item), length));
  in.post(item);
}

task<> reduce_slice(context& me, track& in, track& out, std::size_t item, std::size_t readers) {
  const slice mine =
      slice_of(in.cut().length(item), me.node_index(), me.node().size(), me.call().grain());
  std::byte* room = co_await out.room(item, readers);
  if (mine.length != 0) {
    co_await combine_arrivals(me, item_inputs{in, item, mine.offset, mine.offset},
                              in.piece(me.node_index(), item, 0) + mine.offset, room + mine.offset,
                              mine.length / me.call().element());
  } else {
    co_await in.all_here(item);
  }
  in.take(item);
  out.post(item);
}

task<> collect_slices(context& me, track& out, std::size_t item, std::span<std::byte> result) {
  const auto place = result.subspan(out.cut().offset(item), out.cut().length(item));
  const auto copy_from = [&](std::size_t i) {
    const slice theirs = slice_of(place.size(), i, me.node().size(), me.call().grain());
    return me.copy_result(place.subspan(theirs.offset, theirs.length),
                          out.piece(i, item, 0) + theirs.offset);
  };
  co_await copy_from(me.node_index());
  auto here = out.here(item);
  while (const auto from = co_await here.next()) co_await copy_from(*from);
  out.take(item);
}

}  // namespace muster::algos
