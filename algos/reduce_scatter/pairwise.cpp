// Pairwise reduce-scatter between any ranks, of blocks of any lengths.
//
//  1  for s = 1 … N-1: send block r+s to rank r+s and receive rank r-s's part of the own block, at
//     once; those of the ranks below come from r-1 down to 0, those of the ranks above from N-1
//     down to r+1: each is combined with what came from its side, on the left of it
//  2  the two sides make the result
//
// N-1 steps of one message each way. Every step puts its part where it belongs, so the order is
// that of the ranks, wherever they are, with memory for three blocks; nothing is cut, so elements
// may be of any size.
//
// Source: the pairwise exchange of Thakur, Rabenseifner, Gropp 2005 (4.4), sorted into two sides
// for reductions that do not commute.

#include <array>
#include <utility>

#include "algos/algorithms.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/exchange/members.hpp"
#include "algos/patterns/exchange/send_and_receive.hpp"

namespace muster::algos {
namespace {

/// The parts of neighbouring ranks, combined from the highest downwards.
class side {
public:
  explicit side(std::size_t bytes, const std::byte* first = nullptr)
      : room_(bytes), so_far_(first) {}

  wire::work_wait put_before(context& me, std::span<const std::byte> next) {
    const std::byte* const higher = std::exchange(so_far_, room_.data());
    if (higher == nullptr) return me.copy(room_, next);
    return combine_ordered(me, room_, next.data(), higher);
  }
  const std::byte* so_far() const noexcept { return so_far_; }

private:
  pooled<std::byte> room_;
  const std::byte* so_far_;
};

task<> run(context& me, const arguments& call) {
  const std::span<std::byte> next = me.scratch(call.bytes());
  side below(call.bytes(), call.sent_to(me.rank()).data());  // and this rank itself
  side above(call.bytes());
  me.arrive();
  for (std::size_t step = 1; step < me.size(); ++step) {
    const std::size_t to = (me.rank() + step) % me.size();
    const std::size_t from = (me.rank() + me.size() - step) % me.size();
    co_await send_and_receive(me, to, call.sent_to(to), from, next);
    co_await (from < me.rank() ? below : above).put_before(me, next);
  }
  const std::array<const std::byte*, 2> sides = {below.so_far(), above.so_far()};
  const std::size_t used = sides[1] == nullptr ? 1 : 2;
  co_await me.combine(call.receive, std::span(sides).first(used), call.count);
}

constexpr algorithm row_of(collective what) {
  return {
      .id = "pairwise",
      .what = what,
      .summary = "blocks to the rank s further on in step s, combined as rank order has them",
      .source = "Thakur et al. 2005",
      .suits = any_team,
      .stages = no_stages,
      .run = run,
  };
}

}  // namespace

const algorithm reduce_scatter_block_pairwise = row_of(collective::reduce_scatter_block);
const algorithm reduce_scatter_pairwise = row_of(collective::reduce_scatter);

}  // namespace muster::algos
