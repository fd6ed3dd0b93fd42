// Long broadcast along a chain of all ranks.
//
//  every rank receives the message, piece by piece, from the rank before it and passes each piece
//  on to the next while the one after it comes; the chain begins at the root and goes round
//
// N-2 + ⌈m/32 KiB⌉ steps of one piece: every rank sends and receives the message once, and all at
// the same time, however many they are.
//
// Source: the pipelined chain of the field's baselines, as in Open MPI's tuned collectives.

#include <muster/coro/when_all.hpp>
#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"

namespace muster::algos {
namespace {

constexpr std::size_t piece_bytes = std::size_t{32} * 1024;

constexpr std::size_t pieces_of(std::size_t bytes) {
  return (bytes + piece_bytes - 1) / piece_bytes;
}

/// Of the chain, as one rank sees it.
struct link {
  context& me;
  const arguments& call;

  bool is_last() const { return (me.rank() + 1) % me.size() == call.root; }
  bool receives(std::size_t k) const {
    return me.rank() != call.root && k < pieces_of(call.bytes());
  }
  std::size_t before() const { return (me.rank() + me.size() - 1) % me.size(); }
  std::span<std::byte> piece(std::size_t k) const {
    const auto rest = call.result().subspan(k * piece_bytes);
    return rest.first(std::min(rest.size(), piece_bytes));
  }
};

task<> invite(const link& here, std::size_t k) {
  if (here.receives(k)) co_await here.me.invite(here.before(), here.piece(k));
}

task<> receive(const link& here, std::size_t k) {
  if (here.receives(k)) co_await here.me.receive(here.before(), here.piece(k));
}

task<> pass_on(const link& here, std::size_t k) {
  if (here.is_last()) co_return;
  co_await here.me.send((here.me.rank() + 1) % here.me.size(), here.piece(k));
}

task<> run(context& me, const arguments& call) {
  const link here{me, call};
  me.arrive();
  // One piece ahead, so that the rank before need not wait for it.
  co_await invite(here, 0);
  co_await invite(here, 1);
  co_await receive(here, 0);
  for (std::size_t k = 0; k < pieces_of(call.bytes()); ++k) {
    co_await invite(here, k + 2);
    auto outgoing = pass_on(here, k);
    auto incoming = receive(here, k + 1);
    co_await when_all(std::move(outgoing), std::move(incoming));
  }
}

node_cost costs(const even_nodes& of, const arguments& call) {
  if (of.nodes == 1) return {};
  return {.messages = pieces_of(call.bytes()), .bytes = call.bytes(), .connections = 1};
}

}  // namespace

const algorithm bcast_chain = {
    .id = "chain",
    .what = collective::bcast,
    .summary = "pieces from rank to rank, one behind the other",
    .source = "Open MPI",
    .formula = "⌈m/32 KiB⌉ messages, m bytes, 1 connection",
    .costs = costs,
    .suits = any_team,
    .stages = no_stages,
    .run = run,
};

}  // namespace muster::algos
