// Allgather in which every rank invites all others first.
//
//  1  rank r invites all others: each may now write its block straight to its place at r
//  2  r sends its block to all others, each as soon as that one has invited it, and takes theirs
//
// N-1 messages a rank. Long blocks are not copied on their way, and nobody waits for a late rank
// while there is another to be served.

#include <utility>
#include <vector>

#include <muster/coro/when_all.hpp>
#include <muster/run/context.hpp>

using namespace muster;

namespace {

task<> invited(context& me, const arguments& call) {
  me.arrive();  // every rank, exactly once
  for (std::size_t i = 1; i < me.size(); ++i) {
    const std::size_t from = (me.rank() + i) % me.size();
    co_await me.invite(from, call.received_from(from));
  }
  const std::span<const std::byte> own = call.own_block(me.rank());
  co_await me.copy(call.received_from(me.rank()), own);
  std::vector<task<>> transfers;
  for (std::size_t i = 1; i < me.size(); ++i) {
    const std::size_t to = (me.rank() + i) % me.size();
    const std::size_t from = (me.rank() + me.size() - i) % me.size();
    transfers.push_back(me.send(to, own));
    transfers.push_back(me.receive(from, call.received_from(from)));
  }
  co_await when_all(std::move(transfers));
}

const algorithm row = {
    .id = "invited",
    .what = collective::allgather,
    .summary = "all are invited, then every rank sends its block to whoever has invited it",
    .source = "docs/own-algorithm.md",
    .suits = [](const shape&, const machine&, const arguments&) { return true; },
    .stages = [](const shape&, const machine&, const arguments&) { return stage_kind::none; },
    .run = invited,
};

}  // namespace

const catalog* muster_catalog() noexcept {
  static const catalog rows(&row, 1);
  return &rows;
}
