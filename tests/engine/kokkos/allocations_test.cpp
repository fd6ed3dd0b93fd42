// Calls on Views allocate nothing once warm, packed or not: counted in the global operator new.

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

#include "tests/support/allocations.hpp"

namespace muster::testing {
namespace {

namespace mk = muster::kokkos;

/// The least that a batch of calls allocates: an order of arrivals that has not been before may
/// need more frames than were ever alive at once.
task<std::size_t> least_of(const std::function<task<>()>& call) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (int batch = 0; batch < 5; ++batch) {
    const std::size_t before = allocations();
    for (int i = 0; i < 200; ++i) co_await call();
    least = std::min(least, allocations() - before);
  }
  co_return least;
}

TEST_CASE("the counter counts") {
  const std::size_t before = allocations();
  void* something = ::operator new(3);
  CHECK(allocations() == before + 1);
  ::operator delete(something);
}

TEST_CASE("calls that are warm") {
  constexpr std::size_t ranks = 3;
  std::vector<std::vector<std::size_t>> all(ranks);
  run_threads(ranks, [&](team& on) {
    const Kokkos::View<double**, Kokkos::LayoutRight> data("data", 60, 5);
    const Kokkos::View<double**, Kokkos::LayoutRight> other("other", 60, 5);
    const Kokkos::View<double**, Kokkos::LayoutLeft> left("left", 60, 5);
    const auto column = Kokkos::subview(data, Kokkos::ALL, 2);
    const auto into = Kokkos::subview(other, Kokkos::ALL, 3);
    const std::vector<std::size_t> counts(ranks, 20);
    const block_layout blocks{.counts = counts};
    const Kokkos::Max<double> most(other(0, 0));
    const auto later = [](const double&, const double& right) { return right; };
    const std::vector<std::function<task<>()>> calls = {
        [&] { return mk::allreduce(on, data, other, sum); },
        [&] { return mk::allreduce(on, left, other, sum); },
        [&] { return mk::allreduce(on, column, most); },
        [&] { return mk::scan(on, data, later); },
        [&] { return mk::bcast(Kokkos::DefaultHostExecutionSpace(), on, column, 1); },
        [&] { return mk::alltoall(on, column, into); },
        [&] { return mk::alltoallv(on, column, blocks, into, blocks); },
    };
    for (const auto& each : calls) {
      all[on.rank()].push_back(start(on.engine(), least_of(each)).wait());
      start(barrier(on)).wait();
    }
  });
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < all[rank].size(); ++i) {
      INFO("call ", i, ", rank ", rank);
      CHECK(all[rank][i] == 0);
    }
  }
}

TEST_CASE("a pool keeps no more than 32 buffers") {
  mk::detail::buffer_pool& pool = mk::detail::buffer_pool::here();
  pool.clear(false);
  std::vector<mk::detail::buffer> many;
  for (int i = 0; i < 40; ++i) many.push_back(pool.take(mk::detail::host_memory, 4096));
  many.clear();
  many.reserve(40);
  const std::size_t before = allocations();
  for (int i = 0; i < 32; ++i) many.push_back(pool.take(mk::detail::host_memory, 4096));
  CHECK(allocations() == before);
  many.push_back(pool.take(mk::detail::host_memory, 4096));
  CHECK(allocations() == before + 1);
  many.clear();
  pool.clear(false);
}

TEST_CASE("a pool keeps no more than it may") {
  mk::detail::buffer_pool& pool = mk::detail::buffer_pool::here();
  constexpr std::size_t bytes = mk::detail::buffer_pool::most_bytes / 4;
  {
    std::vector<mk::detail::buffer> many;
    for (int i = 0; i < 6; ++i) many.push_back(pool.take(mk::detail::host_memory, bytes));
  }
  std::vector<mk::detail::buffer> again;
  const std::size_t before = allocations();
  for (int i = 0; i < 6; ++i) again.push_back(pool.take(mk::detail::host_memory, bytes));
  CHECK(allocations() - before >= 2);   // it had given two back at least
  CHECK(allocations() - before <= 10);  // and kept some
  pool.clear(false);
}

}  // namespace
}  // namespace muster::testing
