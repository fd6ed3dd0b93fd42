// What Views may be: of any rank, of const elements, temporary, of no elements, of any type that
// travels; in flight; wrong ones.

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

#include "tests/engine/kokkos/ranks.hpp"
#include "tests/engine/kokkos/views.hpp"
#include "tests/support/says.hpp"

namespace muster::testing {
namespace {

namespace mk = muster::kokkos;

template <class V>
task<> sum_and_send(team& on, V data, V other) {
  constexpr bool left = std::is_same_v<typename V::array_layout, Kokkos::LayoutLeft>;
  for_each_element(data, left, [&](std::size_t i, auto& each) { each = value_at(on.rank(), i); });
  co_await mk::allreduce(on, data, other, sum);
  std::size_t wrong = 0;
  for_each_element(other, left, [&](std::size_t i, const auto& each) {
    wrong += each == sum_at(on.size(), i) ? 0U : 1U;
  });
  require(wrong == 0, "allreduce of a rank");
  co_await mk::bcast(on, data, 0);
  for_each_element(data, left, [&](std::size_t i, const auto& each) {
    wrong += each == value_at(0, i) ? 0U : 1U;
  });
  require(wrong == 0, "bcast of a rank");
}

template <class L>
task<> every_rank(team& on) {
  using Kokkos::View;
  co_await sum_and_send(on, View<double, L>("0"), View<double, L>("0"));
  co_await sum_and_send(on, View<double*, L>("1", 5), View<double*, L>("1", 5));
  co_await sum_and_send(on, View<double**, L>("2", 5, 2), View<double**, L>("2", 5, 2));
  co_await sum_and_send(on, View<double* [3], L>("2", 5), View<double* [3], L>("2", 5));
  co_await sum_and_send(on, View<double***, L>("3", 2, 3, 4), View<double***, L>("3", 2, 3, 4));
  co_await sum_and_send(on, View<double****, L>("4", 2, 3, 4, 2),
                        View<double****, L>("4", 2, 3, 4, 2));
  co_await sum_and_send(on, View<double*****, L>("5", 2, 3, 1, 2, 3),
                        View<double*****, L>("5", 2, 3, 1, 2, 3));
  co_await sum_and_send(on, View<double******, L>("6", 2, 3, 1, 2, 3, 2),
                        View<double******, L>("6", 2, 3, 1, 2, 3, 2));
  co_await sum_and_send(on, View<double*******, L>("7", 2, 3, 1, 2, 3, 2, 2),
                        View<double*******, L>("7", 2, 3, 1, 2, 3, 2, 2));
  co_await sum_and_send(on, View<double********, L>("8", 2, 3, 1, 2, 3, 2, 2, 3),
                        View<double********, L>("8", 2, 3, 1, 2, 3, 2, 2, 3));
}

TEST_CASE("Views of ranks 0 to 8") {
  for (const std::size_t ranks : {1, 3, 4}) {
    on_ranks(ranks, every_rank<Kokkos::LayoutRight>);
    on_ranks(ranks, every_rank<Kokkos::LayoutLeft>);
  }
}

/// Every second element of each dimension but the last one.
template <class V>
task<> subview_of_rank_4(team& on) {
  const V all("all", 4, 3, 5, 4);
  const V total("total", 4, 3, 5, 4);
  const auto pairs = [](std::size_t end) { return std::pair<std::size_t, std::size_t>(1, end); };
  const auto mine = Kokkos::subview(all, pairs(3), Kokkos::ALL, pairs(4), pairs(3));
  const auto sums = Kokkos::subview(total, pairs(3), Kokkos::ALL, pairs(4), pairs(3));
  for_each_element(mine, false,
                   [&](std::size_t i, double& each) { each = value_at(on.rank(), i); });
  co_await mk::allreduce(on, mine, sums, sum);
  std::size_t wrong = 0;
  for_each_element(sums, false, [&](std::size_t i, double each) {
    wrong += each == sum_at(on.size(), i) ? 0U : 1U;
  });
  double outside = 0;
  for (std::size_t i = 0; i < total.size(); ++i) outside += total.data()[i];
  double inside = 0;
  for_each_element(sums, false, [&](std::size_t, double each) { inside += each; });
  require(wrong == 0 && inside == outside, "a subview of rank 4");
}

TEST_CASE("a part of a View of rank 4") {
  on_ranks(3, subview_of_rank_4<Kokkos::View<double****, Kokkos::LayoutRight>>);
  on_ranks(3, subview_of_rank_4<Kokkos::View<double****, Kokkos::LayoutLeft>>);
}

TEST_CASE("Views of const elements, and temporaries") {
  on_ranks(3, [](team& on) -> task<> {
    const Kokkos::View<double**, Kokkos::LayoutLeft> data("data", 4, 6);
    const Kokkos::View<double**, Kokkos::LayoutLeft> total("total", 4, 6);
    Kokkos::deep_copy(data, 2.0);
    const Kokkos::View<const double**, Kokkos::LayoutLeft> read_only = data;
    co_await mk::allreduce(on, read_only, total, sum);
    require(total(3, 5) == 6, "const elements");
    const auto row = [](const auto& of) { return Kokkos::subview(of, 2, Kokkos::ALL); };
    co_await mk::allreduce(on, row(read_only), row(total), product);
    require(total(2, 5) == 8 && total(1, 5) == 6, "const elements with gaps");
    const Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> unmanaged(data.data(),
                                                                                      24);
    co_await mk::bcast(on, unmanaged, 1);
    require(data(3, 5) == 2, "not managed");
  });
}

TEST_CASE("a View that goes while its operation is in flight") {
  on_ranks(4, [](team& on) -> task<> {
    Kokkos::View<double*> kept("kept", 1000);
    std::vector<future<>> calls;
    for (int i = 0; i < 20; ++i) {
      const Kokkos::View<double*> gone("gone", 1000);
      const Kokkos::View<double**, Kokkos::LayoutLeft> wide("wide", 3, 1000);
      Kokkos::deep_copy(gone, 1.0 + i);
      Kokkos::deep_copy(wide, 2.0);
      calls.push_back(start(mk::allreduce(on, gone, i == 7 ? kept : gone, sum)));
      calls.push_back(start(mk::allreduce(on, Kokkos::subview(wide, 1, Kokkos::ALL), sum)));
    }
    for (auto& each : calls) co_await each;
    require(kept(999) == 32, "in flight");
  });
}

TEST_CASE("an instance: after what it was given so far, and before what it is given then") {
  on_ranks(3, [](team& on) -> task<> {
    const Kokkos::DefaultHostExecutionSpace instance;
    using policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>;
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> send("send", 3, 4);
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> receive("receive", 3, 4);
    double* const raw = send.data();
    Kokkos::parallel_for("fill", policy(instance, 0, 12), KOKKOS_LAMBDA(int i) { raw[i] = i; });
    auto f = start(mk::alltoall(instance, on, send, receive));
    co_await f;
    double got = 0;
    const double* const result = receive.data();
    {
      // Of the threads of a process one at a time: a space may have one memory for all of them.
      static std::mutex alone;
      const std::scoped_lock lock(alone);
      Kokkos::parallel_reduce(
          "add", policy(instance, 0, 12), KOKKOS_LAMBDA(int i, double& to) { to += result[i]; },
          got);
    }
    const auto block = static_cast<double>(4 * on.rank());
    require(got == 3 * (4 * block + 6), "with an instance");
    co_await mk::barrier(instance, on);
    co_await mk::barrier(on);
  });
}

struct particle {
  float x;
  std::int64_t id;
  friend bool operator==(const particle&, const particle&) = default;
};

TEST_CASE("elements of any type that travels") {
  on_ranks(3, [](team& on) -> task<> {
    const auto me = static_cast<int>(on.rank());
    const Kokkos::View<particle**, Kokkos::LayoutLeft> sent("sent", 2, 3);
    const Kokkos::View<particle***, Kokkos::LayoutLeft> all("all", 2, 3, 3);
    for (int i = 0; i < 6; ++i) sent.data()[i] = {0.5F * static_cast<float>(me), me * 10 + i};
    co_await mk::allgather(on, sent, all);
    require(all(1, 2, 2) == particle{1, 25}, "particles");

    const std::vector<std::size_t> counts = {1, 2, 3};
    const block_layout blocks{.counts = counts};
    const Kokkos::View<particle*> mine("mine", on.rank() + 1);
    const Kokkos::View<particle* [2], Kokkos::LayoutLeft> gathered("gathered", 6);
    const auto column = Kokkos::subview(gathered, Kokkos::ALL, 1);
    const auto spaced =
        Kokkos::subview(Kokkos::View<particle* [2], Kokkos::LayoutRight>("s", 6), Kokkos::ALL, 0);
    Kokkos::deep_copy(mine, particle{3, me});
    co_await mk::allgatherv(on, mine, column, blocks);
    co_await mk::allgatherv(on, mine, spaced, blocks);
    require(column(0).id == 0 && column(2).id == 1 && column(5).id == 2, "blocks of particles");
    require(spaced(0).id == 0 && spaced(2).id == 1 && spaced(5).id == 2, "with gaps");

    const Kokkos::View<Kokkos::complex<double>*> waves("waves", 3);
    Kokkos::deep_copy(waves, Kokkos::complex<double>(1, me));
    co_await mk::allreduce(on, waves, sum);
    require(waves(2) == Kokkos::complex<double>(3, 3), "complex");
    const Kokkos::View<bool*> flags("flags", 3);
    flags(on.rank()) = true;
    co_await mk::allreduce(on, flags, logical_or);
    require(flags(0) && flags(1) && flags(2), "bool");
  });
}

TEST_CASE("no elements") {
  on_ranks(3, [](team& on) -> task<> {
    const Kokkos::View<double**> none("none", 0, 4);
    const Kokkos::View<double**> also_none("none", 0, 4);
    const Kokkos::View<double**> nothing;
    const Kokkos::View<double*> nothing_at_all;
    co_await mk::allreduce(on, none, also_none, sum);
    co_await mk::alltoall(on, none, also_none);
    co_await mk::bcast(on, nothing, 0);
    const std::vector<std::size_t> counts = {0, 5, 0};
    const block_layout blocks{.counts = counts};
    const Kokkos::View<double*> mine("mine", on.rank() == 1 ? 5 : 0);
    const Kokkos::View<double*> all("all", 5);
    Kokkos::deep_copy(mine, 4.0);
    co_await mk::allgatherv(on, mine, all, blocks);
    require(all(4) == 4, "a block of no elements");
    const Kokkos::View<double*> pair("pair", 2);
    Kokkos::deep_copy(pair, static_cast<double>(on.rank()));
    const Kokkos::View<double*> pairs =
        on.rank() == 1 ? Kokkos::View<double*>("pairs", 6) : nothing_at_all;
    co_await mk::gather(on, pair, pairs, 1);
    require(on.rank() != 1 || pairs(5) == 2, "nothing where nothing is received");
  });
}

TEST_CASE("an engine with a thread of its own, and several nodes") {
  const auto program = [](team& on) {
    const Kokkos::View<double**, Kokkos::LayoutRight> all("all", 300, 4);
    const auto column = Kokkos::subview(all, Kokkos::ALL, 3);
    Kokkos::deep_copy(column, static_cast<double>(on.rank()));
    for (int i = 0; i < 5; ++i) start(mk::bcast(on, column, 1)).wait();
    start(mk::allreduce(on, Kokkos::subview(all, Kokkos::ALL, 3), sum)).wait();
    require(all(299, 3) == 4 && all(299, 2) == 0, "a column");
  };
  run_threads(4, program, {.progress = progress::thread});
  run_threads(4, program, {.node_of = {0, 1, 1, 0}});
}

TEST_CASE("a call that is stopped half-way, and one that is never awaited") {
  run_threads(2, [](team& on) {
    const Kokkos::View<double**, Kokkos::LayoutRight> all("all", 300, 4);
    const auto column = Kokkos::subview(all, Kokkos::ALL, 3);
    {
      const task<> forgotten = mk::allreduce(on, column, sum);
    }
    start(barrier(on)).wait();
    if (on.rank() == 0) {
      const future<> stopped = start(mk::allreduce(on, column, sum));
    } else {
      bool failed = false;
      try {
        start(mk::alltoall(on, column)).wait();
        start(barrier(on)).wait();
      } catch (const error&) {
        failed = true;
      }
      require(failed, "the other rank learns of it");
    }
  });
}

/// What a call is refused with.
template <class F>
std::string refusal(F call) {
  try {
    static_cast<void>(call());
  } catch (const error& why) {
    return why.code() == errc::invalid_argument ? why.what() : "another error";
  }
  return "nothing";
}

TEST_CASE("what does not fit is named, and nothing is sent") {
  std::vector<std::string> texts;
  on_ranks(2, [&](team& on) -> task<> {
    const Kokkos::View<double**, Kokkos::LayoutLeft> a("a", 3, 4);
    const Kokkos::View<double**, Kokkos::LayoutLeft> b("b", 4, 3);
    const Kokkos::View<double**, Kokkos::LayoutStride> strided("s",
                                                               Kokkos::LayoutStride(4, 3, 3, 1));
    const Kokkos::View<double*> one("one", 1);
    const std::vector<std::size_t> counts = {20, 20};
    const block_layout blocks{.counts = counts};
    const Kokkos::View<particle*> particles("particles", 8);
    std::vector<std::string> said = {
        refusal([&] { return mk::allreduce(on, a, b, sum); }),
        refusal([&] { return mk::reduce(on, a, b, sum, on.rank()); }),
        refusal([&] { return mk::scan(on, a, b, sum); }),
        refusal([&] { return mk::alltoall(on, strided, b); }),
        refusal([&] { return mk::alltoall(on, a, one); }),
        refusal([&] { return mk::allgather(on, a, b); }),
        refusal([&] { return mk::bcast(on, a, 5); }),
        refusal([&] { return mk::allgatherv(on, particles, particles, blocks); }),
        refusal([&] { return mk::allreduce(on, a, bit_and); }),
        refusal([&] { return mk::allreduce(on, particles, sum); }),
    };
    if (on.rank() == 0) texts = said;
    co_await mk::allreduce(on, a, sum);  // the team is whole
  });
  REQUIRE(texts.size() == 10);
  CHECK(says(texts[0], "allreduce: send has extents 3 x 4; expected 4 x 3, those of receive"));
  CHECK(says(texts[1], "reduce: send has extents 3 x 4; expected 4 x 3, those of receive"));
  CHECK(says(texts[2], "scan: send has extents 3 x 4; expected 4 x 3, those of receive"));
  CHECK(says(texts[3], "alltoall: elements of send are in order right; expected left"));
  CHECK(says(texts[4], "alltoall: receive has 1 elements; expected 12, as many as in send"));
  CHECK(says(texts[5], "allgather: receive has 12 elements; expected 24"));
  CHECK(says(texts[6], "bcast"));
  CHECK(says(texts[7], "allgatherv: receive has 8 elements"));
  CHECK(says(texts[8], "allreduce"));
  CHECK(says(texts[9], "allreduce"));
}

TEST_CASE("ranks whose Views differ in size learn it") {
  std::array<std::string, 2> texts;
  CHECK_THROWS_AS(on_ranks(2,
                           [&](team& on) -> task<> {
                             const Kokkos::View<double*> data("data", 3 + on.rank());
                             try {
                               co_await mk::allreduce(on, data, sum);
                             } catch (const error& why) {
                               texts[on.rank()] = why.what();
                               throw;
                             }
                           }),
                  const error&);
  CHECK(says(texts[0], "allreduce(4 x float64, sum) on rank 1"));
}

}  // namespace
}  // namespace muster::testing
