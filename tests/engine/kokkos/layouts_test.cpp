// Every collective on Views of every layout, contiguous and with gaps, against what its elements
// in order have to be.

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

#include "tests/engine/kokkos/ranks.hpp"
#include "tests/engine/kokkos/views.hpp"

namespace muster::testing {
namespace {

namespace mk = muster::kokkos;

template <class V, class F>
void fill(const V& view, bool left, F value) {
  for_each_element(view, left, [&](std::size_t i, auto& each) { each = value(i); });
}
template <class V, class F>
void expect(const V& view, bool left, F value, const char* what) {
  for_each_element(view, left,
                   [&](std::size_t i, const auto& each) { require(each == value(i), what); });
  require(gaps_are_untouched(view), what);
}

/// Element by element, from a View of one form into one of another; (i, j) is element i * m + j.
template <class From, class To>
task<> combine(team& on, std::size_t n, std::size_t m) {
  const std::size_t me = on.rank();
  const std::size_t p = on.size();
  // The order of the reference is fixed: that in which (i, j) is visited last index fastest.
  const auto send = From::make("send", n, m);
  const auto receive = To::make("receive", n, m);
  const auto mine = [&](std::size_t i) { return value_at(me, i); };
  const auto total = [&](std::size_t i) { return sum_at(p, i); };
  const auto old = [](std::size_t) { return filler; };

  fill(send, false, mine);
  co_await mk::allreduce(on, send, receive, sum);
  expect(receive, false, total, "allreduce");
  expect(send, false, mine, "allreduce: send");

  fill(receive, false, old);
  const std::size_t root = p - 1;
  co_await mk::reduce(on, send, receive, sum, root);
  if (me == root) expect(receive, false, total, "reduce");
  if (me != root) expect(receive, false, old, "reduce: elsewhere");

  co_await mk::scan(on, send, receive, sum);
  expect(receive, false, [&](std::size_t i) { return sum_at(me + 1, i); }, "scan");

  fill(receive, false, old);
  co_await mk::exscan(on, send, receive, sum);
  if (me == 0) expect(receive, false, old, "exscan: rank 0");
  if (me != 0) expect(receive, false, [&](std::size_t i) { return sum_at(me, i); }, "exscan");

  // In place.
  fill(receive, false, mine);
  co_await mk::allreduce(on, receive, sum);
  expect(receive, false, total, "allreduce in place");
  fill(receive, false, mine);
  co_await mk::reduce(on, receive, sum, root);
  if (me == root) expect(receive, false, total, "reduce in place");
  if (me != root) expect(receive, false, mine, "reduce in place: elsewhere");
  fill(receive, false, mine);
  co_await mk::scan(on, receive, sum);
  expect(receive, false, [&](std::size_t i) { return sum_at(me + 1, i); }, "scan in place");
  fill(receive, false, mine);
  co_await mk::exscan(on, receive, sum);
  if (me == 0) expect(receive, false, mine, "exscan in place: rank 0");
  if (me != 0) {
    expect(receive, false, [&](std::size_t i) { return sum_at(me, i); }, "exscan in place");
  }

  fill(receive, false, [&](std::size_t i) { return me == root ? value_at(7, i) : filler; });
  co_await mk::bcast(on, receive, root);
  expect(receive, false, [&](std::size_t i) { return value_at(7, i); }, "bcast");
}

/// Views of the form whose slowest extent is so many blocks of `each`; `fast` is the other one.
template <class Form>
auto blocks_of(const std::string& label, std::size_t blocks, std::size_t each, std::size_t fast) {
  return Form::left ? Form::make(label, fast, blocks * each)
                    : Form::make(label, blocks * each, fast);
}

/// Blocks of one length, between Views whose elements are in one order.
template <class From, class To>
task<> exchange(team& on, std::size_t each, std::size_t fast) {
  static_assert(From::left == To::left);
  constexpr bool left = From::left;
  const std::size_t me = on.rank();
  const std::size_t p = on.size();
  const std::size_t root = p / 2;
  const std::size_t block = each * fast;
  const auto send = blocks_of<From>("send", p, each, fast);
  const auto receive = blocks_of<To>("receive", p, each, fast);
  const auto sent = blocks_of<From>("block", 1, each, fast);
  const auto received = blocks_of<To>("block", 1, each, fast);
  const auto old = [](std::size_t) { return filler; };
  const auto mine = [&](std::size_t i) { return value_at(me, i); };
  // Block b, element i of it.
  const auto of_block = [&](std::size_t b) {
    return [=](std::size_t i) { return value_at(b, i); };
  };
  const auto of_blocks = [&](std::size_t i) { return value_at(i / block, i % block); };
  const auto to_me = [&](std::size_t i) { return value_at(i / block, me * block + i % block); };

  fill(send, left, mine);
  fill(sent, left, mine);
  co_await mk::alltoall(on, send, receive);
  expect(receive, left, to_me, "alltoall");
  fill(receive, left, mine);
  co_await mk::alltoall(on, receive);
  expect(receive, left, to_me, "alltoall in place");

  co_await mk::allgather(on, sent, receive);
  expect(receive, left, of_blocks, "allgather");
  fill(receive, left, [&](std::size_t i) { return i / block == me ? of_blocks(i) : filler; });
  co_await mk::allgather(on, receive);
  expect(receive, left, of_blocks, "allgather in place");

  fill(receive, left, old);
  co_await mk::gather(on, sent, receive, root);
  if (me == root) expect(receive, left, of_blocks, "gather");
  if (me != root) expect(receive, left, old, "gather: elsewhere");

  fill(received, left, old);
  fill(send, left, of_blocks);
  co_await mk::scatter(on, send, received, root);
  expect(received, left, of_block(me), "scatter");

  if (me == root) {
    fill(receive, left, of_blocks);
    co_await mk::scatter(on, receive, root);
    expect(receive, left, of_blocks, "scatter in place: root");
    fill(receive, left, [&](std::size_t i) { return i / block == me ? of_blocks(i) : filler; });
    co_await mk::gather(on, receive, root);
    expect(receive, left, of_blocks, "gather in place");
  } else {
    co_await mk::scatter(on, received, root);
    expect(received, left, of_block(me), "scatter in place");
    co_await mk::gather(on, received, root);
    expect(received, left, of_block(me), "gather in place: elsewhere");
  }

  fill(send, left, mine);
  co_await mk::reduce_scatter_block(on, send, received, sum);
  const auto my_part = [&](std::size_t i) { return sum_at(p, me * block + i); };
  expect(received, left, my_part, "reduce_scatter_block");
  fill(receive, left, mine);
  co_await mk::reduce_scatter_block(on, receive, sum);
  std::size_t wrong = 0;
  for_each_element(receive, left, [&](std::size_t i, double has) {
    wrong += i < block && has != my_part(i) ? 1U : 0U;
  });
  require(wrong == 0 && gaps_are_untouched(receive), "reduce_scatter_block in place");

  const std::vector<std::size_t> counts(p, block);
  co_await mk::reduce_scatter(on, send, counts, received, sum);
  expect(received, left, my_part, "reduce_scatter");
}

/// Blocks of different lengths: rank r's are of r + 1 elements, with a gap before each.
template <class Form>
task<> exchange_varying(team& on) {
  constexpr bool left = Form::left;
  const std::size_t me = on.rank();
  const std::size_t p = on.size();
  const std::size_t root = 0;
  std::vector<std::size_t> counts(p);
  std::vector<std::size_t> displacements(p);
  std::size_t all = 0;
  for (std::size_t r = 0; r < p; ++r) {
    counts[r] = r + 1;
    displacements[r] = all + 1;
    all += counts[r] + 1;
  }
  const std::size_t rows = (all + 2) / 2 + 1;
  const block_layout blocks{.counts = counts, .displacements = displacements};
  const auto gathered = blocks_of<Form>("gathered", 1, rows, 2);
  const auto own = blocks_of<Form>("own", 1, me + 1, 1);
  const auto old = [](std::size_t) { return filler; };
  const auto mine = [&](std::size_t i) { return value_at(me, i); };
  const auto block_at = [&](std::size_t at) {
    for (std::size_t r = 0; r < p; ++r) {
      if (at >= displacements[r] && at < displacements[r] + counts[r]) return r;
    }
    return p;
  };
  const auto of_blocks = [&](std::size_t at) {
    const std::size_t r = block_at(at);
    return r == p ? filler : value_at(r, at - displacements[r]);
  };

  fill(own, left, mine);
  fill(gathered, left, old);
  co_await mk::allgatherv(on, own, gathered, blocks);
  expect(gathered, left, of_blocks, "allgatherv");
  fill(gathered, left, [&](std::size_t at) { return block_at(at) == me ? of_blocks(at) : filler; });
  co_await mk::allgatherv(on, gathered, blocks);
  expect(gathered, left, of_blocks, "allgatherv in place");

  fill(gathered, left, old);
  co_await mk::gatherv(on, own, gathered, blocks, root);
  if (me == root) expect(gathered, left, of_blocks, "gatherv");
  if (me != root) expect(gathered, left, old, "gatherv: elsewhere");

  fill(own, left, old);
  fill(gathered, left, of_blocks);
  co_await mk::scatterv(on, gathered, blocks, own, root);
  expect(own, left, mine, "scatterv");

  // Everybody sends rank r blocks of r + 1, so receives p of its own length.
  const std::vector<std::size_t> received_counts(p, me + 1);
  const block_layout received{.counts = received_counts};
  const auto to_me = blocks_of<Form>("to_me", p, me + 1, 1);
  fill(gathered, left, [&](std::size_t at) { return value_at(me, at); });
  co_await mk::alltoallv(on, gathered, blocks, to_me, received);
  expect(
      to_me, left,
      [&](std::size_t i) { return value_at(i / (me + 1), displacements[me] + i % (me + 1)); },
      "alltoallv");

  std::size_t total = 0;
  for (const std::size_t count : counts) total += count;
  const auto vector = blocks_of<Form>("vector", 1, total, 1);
  fill(vector, left, mine);
  co_await mk::reduce_scatter(on, vector, counts, own, sum);
  const std::size_t begin = me * (me + 1) / 2;
  expect(own, left, [&](std::size_t i) { return sum_at(p, begin + i); }, "reduce_scatter varying");
}

/// On a ring that is open at its ends.
template <class Form>
task<> exchange_with_neighbors(team& on) {
  constexpr bool left = Form::left;
  const std::size_t me = on.rank();
  const std::size_t p = on.size();
  const cartesian line(on, {p}, {false});
  const neighborhood with = line;
  const auto send = blocks_of<Form>("send", 2, 2, 3);
  const auto sent = blocks_of<Form>("sent", 1, 2, 3);
  const auto receive = blocks_of<Form>("receive", 2, 2, 3);
  const auto old = [](std::size_t) { return filler; };
  const auto mine = [&](std::size_t i) { return value_at(me, i); };
  const bool has_before = me > 0;
  const bool has_after = me + 1 < p;

  fill(send, left, mine);
  fill(receive, left, old);
  co_await mk::neighbor_alltoall(on, send, receive, with);
  expect(
      receive, left,
      [&](std::size_t i) {
        if (i < 6) return has_before ? value_at(me - 1, 6 + i) : filler;
        return has_after ? value_at(me + 1, i - 6) : filler;
      },
      "neighbor_alltoall");

  fill(sent, left, mine);
  fill(receive, left, old);
  const auto from_both = [&](std::size_t i) {
    if (i < 6) return has_before ? value_at(me - 1, i) : filler;
    return has_after ? value_at(me + 1, i - 6) : filler;
  };
  co_await mk::neighbor_allgather(on, sent, receive, with);
  expect(receive, left, from_both, "neighbor_allgather");

  const std::array<std::size_t, 2> counts = {6, 6};
  const block_layout blocks{.counts = counts};
  fill(receive, left, old);
  co_await mk::neighbor_allgatherv(on, sent, receive, blocks, with);
  expect(receive, left, from_both, "neighbor_allgatherv");

  const std::array<std::size_t, 2> fewer = {2, 3};
  const std::array<std::size_t, 2> opposite = {3, 2};
  const std::array<std::size_t, 2> places = {1, 7};
  const block_layout sends{.counts = fewer, .displacements = places};
  const block_layout receives{.counts = opposite, .displacements = places};
  fill(receive, left, old);
  co_await mk::neighbor_alltoallv(on, send, sends, receive, receives, with);
  expect(
      receive, left,
      [&](std::size_t i) {
        if (i >= 1 && i < 4 && has_before) return value_at(me - 1, 7 + i - 1);
        if (i >= 7 && i < 9 && has_after) return value_at(me + 1, 1 + i - 7);
        return filler;
      },
      "neighbor_alltoallv");
}

template <class From, class... To>
void combine_from(std::size_t ranks) {
  (on_ranks(ranks,
            [](team& on) -> task<> {
              co_await combine<From, To>(on, 5, 7);
              co_await combine<From, To>(on, 40, 33);
              co_await combine<From, To>(on, 1, 4);
              co_await combine<From, To>(on, 0, 4);
            }),
   ...);
}
template <class From, class... To>
void exchange_from(std::size_t ranks) {
  (on_ranks(ranks,
            [](team& on) -> task<> {
              co_await exchange<From, To>(on, 2, 3);
              co_await exchange<From, To>(on, 37, 40);
              co_await exchange<From, To>(on, 1, 0);
            }),
   ...);
}

constexpr std::array<std::size_t, 5> teams = {1, 2, 3, 5, 8};

TEST_CASE("element (i, j) is combined with element (i, j), whatever the layouts") {
  for (const std::size_t ranks : teams) {
    CAPTURE(ranks);
    combine_from<right_view, right_view, right_rows, right_plane, strided<false>, left_view,
                 left_rows, left_plane, strided<true>>(ranks);
    combine_from<right_plane, left_view, left_rows>(ranks);
    combine_from<left_view, right_view, right_plane>(ranks);
    combine_from<left_rows, right_view, strided<false>>(ranks);
    combine_from<strided<true>, right_rows, left_plane>(ranks);
  }
}

TEST_CASE("blocks are consecutive in the order of the layout") {
  for (const std::size_t ranks : teams) {
    CAPTURE(ranks);
    exchange_from<right_view, right_view, right_rows, right_plane, strided<false>>(ranks);
    exchange_from<right_rows, right_plane>(ranks);
    exchange_from<strided<false>, right_view>(ranks);
    exchange_from<left_view, left_view, left_rows, left_plane, strided<true>>(ranks);
    exchange_from<left_plane, left_rows>(ranks);
    exchange_from<strided<true>, left_view>(ranks);
  }
}

template <class... Forms>
void exchange_more(std::size_t ranks) {
  (on_ranks(ranks,
            [](team& on) -> task<> {
              co_await exchange_varying<Forms>(on);
              co_await exchange_with_neighbors<Forms>(on);
            }),
   ...);
}

TEST_CASE("blocks of different lengths, and those of neighbors") {
  for (const std::size_t ranks : teams) {
    CAPTURE(ranks);
    exchange_more<right_view, right_rows, right_plane, strided<false>, left_view, left_rows,
                  left_plane, strided<true>>(ranks);
  }
}

TEST_CASE("many ranks") {
  on_ranks(17, [](team& on) -> task<> {
    co_await combine<left_view, right_plane>(on, 9, 5);
    co_await exchange<left_plane, left_rows>(on, 2, 5);
    co_await exchange_varying<right_plane>(on);
    co_await exchange_with_neighbors<left_rows>(on);
  });
}

}  // namespace
}  // namespace muster::testing
