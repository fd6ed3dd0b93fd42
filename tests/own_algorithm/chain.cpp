// Allreduce along a chain of all ranks, a pipeline of segments.
//
//  1  rank r takes a segment from rank r-1, combines its own part with it, and sends it to r+1
//  2  the last rank has the segment's result, which goes the same way back
//
// Both at once for different segments: a segment takes 2(N-1) messages on its way, one behind the
// other, but the next one follows it at once. Parts are combined in rank order.

#include <algorithm>
#include <array>
#include <utility>

#include <muster/coro/when_all.hpp>
#include <muster/run/context.hpp>

using namespace muster;

namespace {

/// One rank's part.
struct chain {
  context& me;
  const arguments& call;
  std::size_t segment;         ///< bytes: whole elements
  std::span<std::byte> rooms;  ///< for two segments of the rank before

  chain(context& me, const arguments& call)
      : me(me),
        call(call),
        segment(std::max<std::size_t>(32768 / call.grain(), 1) * call.grain()),
        rooms(me.scratch(is_first() ? 0 : 2 * segment)) {}

  bool is_first() const { return me.rank() == 0; }
  bool is_last() const { return me.rank() + 1 == me.size(); }
  std::size_t count() const { return (call.bytes() + segment - 1) / segment; }
  template <class Bytes>
  Bytes part(Bytes whole, std::size_t i) const {
    return whole.subspan(i * segment, std::min(segment, whole.size() - i * segment));
  }
  std::span<std::byte> room(std::size_t i) const {
    return rooms.subspan(i % 2 * segment, part(call.result(), i).size());
  }
};

task<> invite_next(const chain& in, std::size_t i) {
  if (i >= in.count()) co_return;
  co_await in.me.invite(in.me.rank() - 1, in.room(i));
}

/// Takes segment i from the rank before and combines it with this one's into the result.
task<> take(const chain& in, std::size_t i) {
  const auto own = in.part(in.call.contribution(), i);
  const auto result = in.part(in.call.result(), i);
  if (in.is_first()) co_return co_await in.me.copy(result, own);
  co_await invite_next(in, i + 1);  // so that it can come while this one is combined
  const auto theirs = in.room(i);
  co_await in.me.receive(in.me.rank() - 1, theirs);
  const std::array<const std::byte*, 2> parts = {theirs.data(), own.data()};
  co_await in.me.combine(result.data(), parts, own.size() / in.call.element());
}

task<> go_up(const chain& in) {
  if (!in.is_first()) co_await invite_next(in, 0);
  for (std::size_t i = 0; i < in.count(); ++i) {
    co_await take(in, i);
    const std::size_t next = in.is_last() ? in.me.rank() - 1 : in.me.rank() + 1;
    co_await in.me.send(next, in.part(in.call.result(), i));
  }
}

task<> come_back(const chain& in) {
  if (in.is_last()) co_return;  // its results are sent as they are made
  for (std::size_t i = 0; i < in.count(); ++i) {
    const auto result = in.part(in.call.result(), i);
    // It cannot come before this rank's part of it has gone up.
    co_await in.me.expect(in.me.rank() + 1, result);
    if (!in.is_first()) co_await in.me.send(in.me.rank() - 1, result);
  }
}

task<> run(context& me, const arguments& call) {
  const chain in(me, call);
  me.arrive();
  if (me.size() == 1) co_return co_await me.copy(call.result(), call.contribution());
  auto up = go_up(in);
  auto back = come_back(in);
  co_await when_all(std::move(up), std::move(back));
}

const algorithm row = {
    .id = "chain",
    .what = collective::allreduce,
    .summary = "segments go up a chain of all ranks and grow, and their results come back",
    .source = "docs/own-algorithm.md",
    .suits = [](const shape&, const machine&, const arguments&) { return true; },
    .stages = [](const shape&, const machine&, const arguments&) { return stage_kind::none; },
    .run = run,
};

}  // namespace

const catalog* muster_catalog() noexcept {
  static const catalog rows(&row, 1);
  return &rows;
}
