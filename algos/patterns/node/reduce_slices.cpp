#include "algos/patterns/node/reduce_slices.hpp"

#include "algos/patterns/call/slices.hpp"
#include "algos/patterns/node/combine_arrivals.hpp"

namespace muster::algos {
namespace {

slice own_slice(context& me, std::size_t length) {
  return slice_of(length, me.node_index(), me.node().size(), me.call().grain());
}

}  // namespace

task<> contribute(context& me, pipeline& in, std::span<const std::byte> contribution,
                  std::size_t segment, std::size_t readers) {
  if (in.lent()) co_return;
  std::byte* slot = co_await in.slot(segment, readers);
  const std::size_t length = in.cut().length(segment);
  co_await me.stage({slot, length}, contribution.subspan(in.cut().offset(segment), length));
  in.post(segment);
}

task<> contribute_slices(context& me, pipeline& in, std::span<const std::byte> contribution,
                         std::size_t segment) {
  if (in.lent()) co_return;
  std::byte* slot = co_await in.slot(segment);
  const auto piece = contribution.subspan(in.cut().offset(segment), in.cut().length(segment));
  const slice own = own_slice(me, piece.size());
  const std::size_t rest = own.offset + own.length;
  co_await me.stage({slot, own.offset}, piece.first(own.offset));
  co_await me.stage({slot + rest, piece.size() - rest}, piece.subspan(rest));
  in.post(segment);
}

task<> reduce_slice(context& me, pipeline& in, pipeline& out,
                    std::span<const std::byte> contribution, std::size_t segment,
                    std::size_t readers) {
  const slice mine = own_slice(me, in.cut().length(segment));
  std::byte* slot = co_await out.slot(segment, readers);
  if (mine.length != 0) {
    co_await combine_arrivals(me, segment_inputs{in, segment, mine.offset, mine.offset},
                              contribution.data() + in.cut().offset(segment) + mine.offset,
                              slot + mine.offset, mine.length / me.call().element());
  } else {
    co_await in.all_here(segment);
  }
  in.take(segment);
  out.post(segment);
}

task<> collect_slices(context& me, pipeline& out, std::size_t segment,
                      std::span<std::byte> result) {
  const auto place = result.subspan(out.cut().offset(segment), out.cut().length(segment));
  const auto copy_from = [&](std::size_t i) {
    const slice theirs = slice_of(place.size(), i, me.node().size(), me.call().grain());
    return me.copy_result(theirs.of(place), out.piece(i, segment, 0) + theirs.offset);
  };
  co_await copy_from(me.node_index());
  auto here = out.here(segment);
  while (const auto from = co_await here.next()) co_await copy_from(*from);
  out.take(segment);
}

}  // namespace muster::algos
