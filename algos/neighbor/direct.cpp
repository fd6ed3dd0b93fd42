// Exchange of blocks among neighbors, from each straight to each.
//
//  1  rank r copies the blocks that it sends itself, and invites the sources of those that go in
//     place
//  2  it sends short blocks, which wait for nobody, to its destinations from rank r+1 on
//  3  it sends the others, each as its destination lets it, and receives those of its sources
//
// One message a destination, one from each source. Ranks that are neighbors several times send
// their blocks one after the other, in an order that both know.
//
// Source: the text of MPI-4.0 (8.6), which defines these collectives by messages.

#include <algorithm>
#include <utility>

#include <muster/coro/when_all.hpp>
#include <muster/run/context.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/exchange/neighbor_edges.hpp"

namespace muster::algos {
namespace {

/// How many from the first on are of its rank.
template <class Edge>
std::size_t same_rank(std::span<const Edge> edges) {
  const auto other =
      std::ranges::find_if(edges, [&](const Edge& one) { return one.rank != edges.front().rank; });
  return static_cast<std::size_t>(other - edges.begin());
}

/// Whether all blocks of a rank fit on their way, without an invitation: there is room for them
/// as soon as earlier operations are over there, for which nobody needs this one.
template <class Edge>
bool are_short(const context& me, std::span<const Edge> edges) {
  std::size_t bytes = 0;
  for (const Edge& one : edges) {
    if (me.is_zero_copy(one.bytes.size())) return false;
    bytes += one.bytes.size() + sizeof(message_header);
  }
  return bytes <= me.machine().message_piece;
}

task<> send(context& me, std::span<const outgoing> edges) {
  for (const outgoing& one : edges) co_await me.send(one.rank, one.bytes);
}

task<> receive(context& me, std::span<const incoming> edges) {
  for (const incoming& one : edges) co_await me.receive(one.rank, one.bytes);
}

/// One rank's exchange.
class exchange {
public:
  exchange(context& me, const arguments& call)
      : me_(me), out_(outgoing_of(me, call)), in_(incoming_of(me, call)) {}

  task<> run() {
    co_await keep_own();
    for (const incoming& one : in_) {
      if (me_.is_zero_copy(one.bytes.size())) co_await me_.invite(one.rank, one.bytes);
    }
    pooled_list<task<>> rest;
    for (std::span<const outgoing> left = out_; !left.empty();) {
      const auto block = left.first(same_rank(left));
      left = left.subspan(block.size());
      if (!are_short(me_, block)) {
        rest.push_back(send(me_, block));
      } else {
        co_await send(me_, block);
      }
    }
    // All at once: whoever waits for one of these may be waited for by another.
    pooled_list<incoming> short_ones;
    for (std::span<const incoming> left = in_; !left.empty();) {
      const auto block = left.first(same_rank(left));
      left = left.subspan(block.size());
      if (!are_short(me_, block)) {
        rest.push_back(receive(me_, block));
      } else {
        short_ones.insert(short_ones.end(), block.begin(), block.end());
      }
    }
    auto few = receive(me_, short_ones);
    if (rest.empty()) {
      co_await std::move(few);
      co_return;
    }
    rest.push_back(std::move(few));
    co_await when_all(std::move(rest));
  }

private:
  /// Copies what this rank sends itself, and is done with it.
  task<> keep_own() {
    const std::size_t own = me_.rank();
    while (!out_.empty() && out_.back().rank == own) {
      // As many on both sides: `check` has seen to that.
      co_await me_.copy(in_.back().bytes, out_.back().bytes);
      out_.pop_back();
      in_.pop_back();
    }
  }

  context& me_;
  pooled_list<outgoing> out_;
  pooled_list<incoming> in_;
};

task<> run(context& me, const arguments& call) {
  exchange mine(me, call);
  co_await mine.run();
}

bool any_team(const shape&, const machine&, const arguments&) { return true; }

stage_kind apart(const shape&, const machine&, const arguments&) { return stage_kind::apart; }

constexpr algorithm row_of(collective what) {
  return {
      .id = "direct",
      .what = what,
      .summary = "every rank sends each of its destinations its block, and hears of nobody else",
      .source = "MPI-4.0 8.6",
      .suits = any_team,
      .stages = apart,
      .run = run,
  };
}

}  // namespace

const algorithm neighbor_allgather_direct = row_of(collective::neighbor_allgather);
const algorithm neighbor_alltoall_direct = row_of(collective::neighbor_alltoall);
const algorithm neighbor_allgatherv_direct = row_of(collective::neighbor_allgatherv);
const algorithm neighbor_alltoallv_direct = row_of(collective::neighbor_alltoallv);

}  // namespace muster::algos
