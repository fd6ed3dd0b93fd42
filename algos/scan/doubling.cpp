// Scan and exclusive scan between any ranks.
//
//  for d = 1, 2, 4, … below N: send what the last d ranks up to this one add up to d ranks further
//  on, receive the same from d ranks back, and put it on the left of one's own
//
// ⌈log2 N⌉ steps of one message each way, of the whole vector. Each step joins neighbouring ranges
// of ranks, so the order is that of the ranks, wherever they are; nothing is cut, so elements may
// be of any size. An exclusive scan keeps what came beside what it passes on.
//
// Source: Hillis, Steele 1986, Data parallel algorithms.

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/members.hpp"

namespace muster::algos {
namespace {

task<> pass_on(context& me, std::size_t distance, std::span<const std::byte> sum) {
  if (me.rank() + distance < me.size()) co_await me.send(me.rank() + distance, sum);
}

task<> receive(context& me, std::size_t distance, std::span<std::byte> theirs) {
  if (me.rank() >= distance) co_await me.receive(me.rank() - distance, theirs);
}

task<> run(context& me, const arguments& call) {
  const bool exclusive = call.what == collective::exscan;
  const std::span<std::byte> theirs = me.scratch(call.bytes());
  const std::span<std::byte> sum = exclusive ? me.scratch(call.bytes()) : call.result();
  std::span<const std::byte> own = call.contribution();  // and then the sum
  me.arrive();
  for (std::size_t distance = 1; distance < me.size(); distance *= 2) {
    // Before the long message, or the ranks would send one after the other.
    if (me.rank() >= distance) co_await me.invite(me.rank() - distance, theirs);
    auto outgoing = pass_on(me, distance, own);
    auto incoming = receive(me, distance, theirs);
    co_await when_all(std::move(outgoing), std::move(incoming));
    if (me.rank() < distance) continue;
    // Before the result: in place, that is where this rank's own was.
    co_await combine_ordered(me, sum, theirs.data(), own.data());
    own = sum;
    if (exclusive && distance == 1) {
      co_await me.copy(call.result(), theirs);
    } else if (exclusive) {
      co_await combine_ordered(me, call.result(), theirs.data(), call.receive);
    }
  }
  if (me.rank() == 0 && !exclusive) co_await me.copy(sum, own);
}

constexpr algorithm row_of(collective what) {
  return {
      .id = "doubling",
      .what = what,
      .summary = "sums of twice as many ranks in every step, over the ranks in their order",
      .source = "Hillis, Steele 1986",
      .suits = any_team,
      .stages = no_stages,
      .run = run,
  };
}

}  // namespace

const algorithm scan_doubling = row_of(collective::scan);
const algorithm exscan_doubling = row_of(collective::exscan);

}  // namespace muster::algos
