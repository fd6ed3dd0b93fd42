#include "tools/command/bench/limit.hpp"

#include <doctest/doctest.h>

namespace muster::bench {
namespace {

/// Round figures, so that every one can be seen in a sum; ample cores unless others are given.
allowance machine(std::size_t cores = 64) {
  return {.cores = cores, .trip_ns = 50, .switch_ns = 1000, .crossing_ns = 100, .near_ns = 10};
}

double limit_ns(collective what, std::size_t ranks, std::size_t bytes, const allowance& given) {
  return 1e3 * limit_us({what, ranks, bytes}, given);
}

TEST_CASE("limit: ranks with a core each meet in one trip, however many they are") {
  for (const std::size_t ranks : {2, 3, 8, 64}) {
    CHECK(limit_ns(collective::barrier, ranks, 0, machine()) == doctest::Approx(50));
  }
}

TEST_CASE("limit: where ranks share a core it changes hands once less than it has ranks") {
  CHECK(limit_ns(collective::barrier, 4, 0, machine(2)) == doctest::Approx(1000));
  CHECK(limit_ns(collective::barrier, 5, 0, machine(2)) == doctest::Approx(2000));
  CHECK(limit_ns(collective::barrier, 16, 0, machine(2)) == doctest::Approx(7000));
  CHECK(limit_ns(collective::barrier, 3, 0, machine(1)) == doctest::Approx(2000));
}

TEST_CASE("limit: a few bytes come with the notice that a rank is there") {
  for (const collective what : {collective::allreduce, collective::allgather, collective::alltoall,
                                collective::reduce_scatter_block}) {
    CAPTURE(name(what));
    CHECK(limit_ns(what, 2, 8, machine()) == doctest::Approx(50));
    CHECK(limit_ns(what, 2, 64, machine()) > 50);
  }
}

TEST_CASE("limit: two ranks with a core each copy what they get from each other") {
  const allowance two = machine(2);
  for (const collective what : {collective::bcast, collective::reduce, collective::scatter,
                                collective::scan, collective::exscan}) {
    CAPTURE(name(what));
    CHECK(limit_ns(what, 2, 4096, two) == doctest::Approx(100));
  }
  CHECK(limit_ns(collective::gather, 2, 4096, two) == doctest::Approx(110));
  CHECK(limit_ns(collective::allreduce, 2, 4096, two) == doctest::Approx(150));
  CHECK(limit_ns(collective::allgather, 2, 4096, two) == doctest::Approx(160));
  CHECK(limit_ns(collective::alltoall, 2, 4096, two) == doctest::Approx(160));
  CHECK(limit_ns(collective::reduce_scatter, 2, 4096, two) == doctest::Approx(150));
}

TEST_CASE("limit: eight ranks with a core each") {
  const allowance eight = machine(8);
  CHECK(limit_ns(collective::bcast, 8, 4096, eight) == doctest::Approx(100));
  CHECK(limit_ns(collective::scatter, 8, 4096, eight) == doctest::Approx(100));
  CHECK(limit_ns(collective::gather, 8, 4096, eight) == doctest::Approx(7 * 100 + 10));
  CHECK(limit_ns(collective::allreduce, 8, 4096, eight) == doctest::Approx(50 + 175));
  CHECK(limit_ns(collective::allgather, 8, 4096, eight) == doctest::Approx(50 + 7 * 100 + 10));
  CHECK(limit_ns(collective::alltoall, 8, 4096, eight) == doctest::Approx(50 + 7 * 100 + 10));
  CHECK(limit_ns(collective::reduce_scatter, 8, 4096, eight) == doctest::Approx(50 + 7 * 100));
}

TEST_CASE("limit: eight ranks on two cores, what is near copied from there") {
  const allowance two = machine(2);
  constexpr double meeting = 3 * 1000;
  CHECK(limit_ns(collective::bcast, 8, 4096, two) == doctest::Approx(100 + 3 * 10));
  CHECK(limit_ns(collective::reduce, 8, 4096, two) == doctest::Approx(100 + 3 * 10));
  CHECK(limit_ns(collective::scatter, 8, 4096, two) == doctest::Approx(4 * 100));
  CHECK(limit_ns(collective::gather, 8, 4096, two) == doctest::Approx(4 * 100 + 4 * 10));
  CHECK(limit_ns(collective::allreduce, 8, 4096, two) == doctest::Approx(meeting + 100 + 6 * 10));
  // 4 ranks copy 8 blocks each: 4 of these come to the core once, from the other.
  CHECK(limit_ns(collective::allgather, 8, 4096, two) == doctest::Approx(meeting + 400 + 280));
  CHECK(limit_ns(collective::alltoall, 8, 4096, two) == doctest::Approx(meeting + 1600 + 160));
  CHECK(limit_ns(collective::reduce_scatter, 8, 4096, two) ==
        doctest::Approx(meeting + 400 + 3 * 8 * 10));
}

TEST_CASE("limit: blocks that vary are limited as those that do not") {
  const auto both = [](collective varying, collective uniform) {
    for (const std::size_t cores : {1, 2, 8}) {
      const allowance given = machine(cores);
      CHECK(limit_ns(varying, 8, 4096, given) == limit_ns(uniform, 8, 4096, given));
    }
  };
  both(collective::scatterv, collective::scatter);
  both(collective::gatherv, collective::gather);
  both(collective::allgatherv, collective::allgather);
  both(collective::alltoallv, collective::alltoall);
  both(collective::reduce_scatter, collective::reduce_scatter_block);
}

TEST_CASE("limit: from where buffers leave the caches, what must pass through the memory") {
  allowance given = machine(2);
  given.memory_ns = 0.1;
  constexpr std::size_t bytes = std::size_t{64} << 20;
  constexpr double copy_ns = 0.1 * bytes;
  const auto copies = [&](collective what, std::size_t ranks) {
    return limit_ns(what, ranks, bytes, given) / copy_ns;
  };
  CHECK(copies(collective::bcast, 2) == doctest::Approx(1));
  CHECK(copies(collective::bcast, 4) == doctest::Approx(2));  // read once, written three times
  for (const collective what :
       {collective::scatter, collective::gather, collective::scatterv, collective::gatherv}) {
    CHECK(copies(what, 4) == doctest::Approx(4));
  }
  CHECK(copies(collective::allgather, 2) == doctest::Approx(3));
  CHECK(copies(collective::alltoall, 2) == doctest::Approx(4));
  CHECK(copies(collective::alltoallv, 4) == doctest::Approx(16));

  CHECK(leaves_caches({collective::alltoall, 2, std::size_t{8} << 20}));
  CHECK_FALSE(leaves_caches({collective::alltoall, 2, std::size_t{4} << 20}));
  CHECK_FALSE(leaves_caches({collective::allreduce, 2, bytes}));
  CHECK_FALSE(leaves_caches({collective::barrier, 64, 0}));
}

TEST_CASE("limit: between barriers it is the memory's, of calls that wait for all") {
  allowance given = machine(2);
  given.memory_ns = 0.1;
  given.between_barriers = true;
  constexpr std::size_t bytes = std::size_t{64} << 20;
  CHECK(limit_ns(collective::alltoall, 2, 4096, given) == 0);
  CHECK(limit_ns(collective::allreduce, 2, bytes, given) == 0);
  CHECK(limit_ns(collective::bcast, 2, bytes, given) == 0);
  CHECK(limit_ns(collective::alltoall, 2, bytes, given) == doctest::Approx(4 * 0.1 * bytes));
}

TEST_CASE("limit: never less for more ranks, and finite for one") {
  for (const collective what : all_collectives) {
    CAPTURE(name(what));
    for (const std::size_t cores : {1, 2, 3, 8}) {
      double last = 0;
      for (const std::size_t ranks : {1, 2, 3, 4, 8, 9, 16}) {
        const double now = limit_ns(what, ranks, has_sizes(what) ? 4096 : 0, machine(cores));
        CHECK(now >= last);
        last = now;
      }
    }
  }
}

}  // namespace
}  // namespace muster::bench
