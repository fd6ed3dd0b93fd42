#include "algos/patterns/node/node_broadcast.hpp"

#include <muster/coro/when_all.hpp>

#include "algos/patterns/node/receive_segments.hpp"

namespace muster::algos {
namespace {

constexpr std::size_t kib = 1024;

bool is_short(const arguments& call) { return call.bytes() <= 64 * kib; }

task<> receive(node_broadcast& in, std::span<std::byte> place) {
  if (in.place.parent) co_await in.me.expect(*in.place.parent, place);
}

/// A speaker's part of a short message: into the stage, then out of it, also for itself.
task<> speak_through_stage(node_broadcast& in) {
  for (std::size_t k = 0; k < in.count(); ++k) {
    std::byte* const begin = co_await in.pieces.slot(k);
    const std::span<std::byte> slot = {begin, in.piece(k).size()};
    if (!in.place.parent) co_await in.me.stage(slot, in.piece(k));
    co_await receive(in, slot);
    in.pieces.post(k);
    co_await pass_on(in.me, in.place, slot);
    if (in.place.parent) co_await in.me.copy(in.piece(k), slot);
  }
}

task<> invite_piece(node_broadcast& in, std::size_t k) {
  if (in.place.parent && k < in.count()) co_await in.me.invite(*in.place.parent, in.piece(k));
}

task<> collect_piece(node_broadcast& in, std::size_t k) {
  if (in.place.parent && k < in.count()) co_await in.me.receive(*in.place.parent, in.piece(k));
}

task<> stage(node_broadcast& in, std::size_t k) {
  if (in.me.node().size() == 1 || in.pieces.lent()) co_return;
  std::byte* slot = co_await in.pieces.slot(k);
  co_await in.me.stage({slot, in.piece(k).size()}, in.piece(k));
  in.pieces.post(k);
}

/// The same of a long one, which comes where it belongs.
task<> speak_at_length(node_broadcast& in) {
  if (!in.place.parent) in.pieces.lend(in.call.result(), pipeline::lending::for_copies);
  // One piece ahead, so that the parent need not wait for it.
  co_await invite_piece(in, 0);
  co_await invite_piece(in, 1);
  co_await collect_piece(in, 0);
  for (std::size_t k = 0; k < in.count(); ++k) {
    co_await invite_piece(in, k + 2);
    auto passed_on = pass_on(in.me, in.place, in.piece(k));
    auto staged = stage(in, k);
    auto next = collect_piece(in, k + 1);
    co_await when_all(std::move(passed_on), std::move(staged), std::move(next));
  }
  co_await in.pieces.returned();
}

}  // namespace

task<> pass_on(context& me, const tree_place& place, std::span<const std::byte> piece) {
  for (const auto& level : place.children) {
    pooled_list<task<>> all;
    for (const std::size_t child : level) all.push_back(me.send(child, piece));
    co_await when_all(std::move(all));
  }
}

node_broadcast::node_broadcast(context& me, const arguments& call, const segments& cut)
    : me(me), call(call), pieces(me, 0, cut) {}

task<> speak(node_broadcast& in) {
  if (in.call.count == 0) {
    co_await receive(in, {});
    co_await pass_on(in.me, in.place, {});
  } else if (is_short(in.call) && in.me.node().size() > 1) {
    co_await speak_through_stage(in);
  } else {
    co_await speak_at_length(in);
  }
}

task<> listen(node_broadcast& in, std::size_t speaker) {
  co_await in.me.read(speaker, 0);
  if (in.call.count != 0) co_await receive_segments(in.pieces, speaker, 0, in.call.result());
}

}  // namespace muster::algos
