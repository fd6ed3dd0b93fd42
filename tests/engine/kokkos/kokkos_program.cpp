// A rank of a job that uses Kokkos. Started by `muster run`:
//
//   kokkos_program example   calls whose results are known
//   kokkos_program times     Views beside spans, with gaps beside without, in microseconds

#include <Kokkos_Core.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

#include "tools/report/statistics.hpp"

namespace {

namespace mk = muster::kokkos;
using clock = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;
using muster::sum;
using host = Kokkos::DefaultHostExecutionSpace;

template <class L>
using matrix = Kokkos::View<double**, L, Kokkos::HostSpace>;

muster::task<> example(muster::team& team) {
  const auto me = static_cast<double>(team.rank());
  const matrix<Kokkos::LayoutLeft> mine("mine", 100, 30);
  const matrix<Kokkos::LayoutRight> total("total", 100, 30);
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<host>(0, 100), KOKKOS_LAMBDA(int i) {
        for (int j = 0; j < 30; ++j) mine(i, j) = i + 1000 * j + me;
      });
  Kokkos::fence();
  co_await mk::allreduce(team, mine, total, sum);
  double largest = 0;
  const Kokkos::Max<double> most(largest);
  Kokkos::parallel_reduce(
      "max", Kokkos::RangePolicy<host>(0, 100),
      KOKKOS_LAMBDA(int i, double& to) {
        if (total(i, 29) > to) to = total(i, 29);
      },
      most);
  largest += me;
  co_await mk::allreduce(team, most);
  const auto column = Kokkos::subview(mine, 3, Kokkos::ALL);
  co_await mk::bcast(host(), team, column, team.size() - 1);
  std::printf("rank %zu: %.0f %.0f\n", team.rank(), largest, mine(3, 2));
}

/// A call's time, the median of many.
muster::task<double> time_of(muster::team& team, int calls,
                             const std::function<muster::task<>()>& call) {
  std::vector<double> all;
  for (int round = 0; round < 41; ++round) {
    co_await muster::barrier(team);
    const auto begin = clock::now();
    for (int i = 0; i < calls; ++i) co_await call();
    all.push_back(microseconds(clock::now() - begin).count() / calls);
  }
  co_return muster::bench::median(all);
}

/// Alone, where a call moves nothing between ranks: what is left is Muster's own.
muster::task<> times(muster::team& team) {
  const auto say = [&](const char* what, double us) {
    if (team.rank() == 0) std::printf("%-52s %10.3f\n", what, us);
  };
  const Kokkos::View<double*, Kokkos::HostSpace> one("one", 1);
  const std::span<double> bytes(one.data(), 1);
  const Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> bare(one.data(), 1);
  const matrix<Kokkos::LayoutRight> pairs("pairs", 2, 2);
  const auto column = Kokkos::subview(pairs, Kokkos::ALL, 1);
  const host instance;
  const auto of_span = [&] { return muster::allreduce(team, bytes, sum); };
  const auto of_view = [&] { return mk::allreduce(team, one, sum); };
  const auto of_bare = [&] { return mk::allreduce(team, bare, sum); };
  const auto of_column = [&] { return mk::allreduce(team, column, sum); };
  const auto of_instance = [&] { return mk::allreduce(instance, team, one, sum); };
  for (int turn = 0; turn < 2; ++turn) {
    say("allreduce, 8 bytes, span", co_await time_of(team, 2000, of_span));
    say("allreduce, 8 bytes, View", co_await time_of(team, 2000, of_view));
    say("allreduce, 8 bytes, View without an owner", co_await time_of(team, 2000, of_bare));
    say("allreduce, 8 bytes, View and instance", co_await time_of(team, 2000, of_instance));
    say("allreduce, 16 bytes, View with gaps", co_await time_of(team, 2000, of_column));
  }
  for (const std::size_t n : {64, 256, 1024}) {
    const matrix<Kokkos::LayoutRight> right("right", n, n);
    const matrix<Kokkos::LayoutRight> also_right("right", n, n);
    const matrix<Kokkos::LayoutLeft> left("left", n, n);
    const matrix<Kokkos::LayoutRight> wide("wide", n, n + 8);
    const Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> cube("cube", n, n, 2);
    const auto rows = Kokkos::subview(wide, Kokkos::ALL, std::pair<std::size_t, std::size_t>(0, n));
    const auto plane = Kokkos::subview(cube, Kokkos::ALL, Kokkos::ALL, 1);
    const auto contiguous = [&] { return mk::allreduce(team, right, also_right, sum); };
    const auto of_rows = [&] { return mk::allreduce(team, rows, also_right, sum); };
    const auto of_plane = [&] { return mk::allreduce(team, plane, also_right, sum); };
    const auto transposed = [&] { return mk::allreduce(team, left, also_right, sum); };
    const int calls = n < 100 ? 200 : n < 1000 ? 20 : 2;
    if (team.rank() == 0) std::printf("allreduce, %zu x %zu double\n", n, n);
    say("  contiguous", co_await time_of(team, calls, contiguous));
    say("  send has rows with gaps between", co_await time_of(team, calls, of_rows));
    say("  send has gaps between elements", co_await time_of(team, calls, of_plane));
    say("  send is LayoutLeft, receive LayoutRight", co_await time_of(team, calls, transposed));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode != "example" && mode != "times") {
    std::fprintf(stderr, "usage: kokkos_program example|times\n");
    return 2;
  }
  const Kokkos::ScopeGuard kokkos;
  muster::world world;
  world.run(mode == "times" ? times(world.team()) : example(world.team()));
}
