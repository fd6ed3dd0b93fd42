// Reductions of numbers that round: the same bits on every rank and in every run, and on one node
// those of combining in rank order.

#include <doctest/doctest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>

#include "tools/conformance/build.hpp"
#include "tools/conformance/findings.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using bytes = std::vector<std::byte>;

spec rounding_call(collective what, datatype type, reduction op, std::size_t count) {
  return {what, type, op, count, 0, false, true, derive(0x5eed, count)};
}

bytes result_of(team& of, const spec& call, random_stream& random) {
  if (random.one_in(3)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(200)));
  checked_call one(of, call, memory::own, random.below(9));
  start(one.perform()).wait();
  const auto received = one.received();
  return {received.begin(), received.end()};
}

/// Each rank's results of all runs.
std::vector<std::vector<bytes>> results(const world_case& world, const spec& call,
                                        std::size_t runs) {
  std::vector<std::vector<bytes>> all(world.ranks);
  const watchdog alive(describe(world) + ", " + describe(call));
  run_threads(
      world.ranks,
      [&](team& of) {
        random_stream random(derive(run_seed(), of.rank()));
        for (std::size_t i = 0; i < runs; ++i) {
          all[of.rank()].push_back(result_of(of, call, random));
        }
      },
      options_for(world));
  return all;
}

double value(float of) { return of; }
double value(double of) { return of; }
/// Of a positive float16 that is neither tiny nor infinite.
double value(std::uint16_t of) {
  constexpr std::uint32_t exponents_apart = 127 - 15;
  return std::bit_cast<float>((std::uint32_t{of} << 13) + (exponents_apart << 23));
}

template <class T>
bool nearly_equal(const bytes& is, const bytes& should_be, double tolerance) {
  for (std::size_t at = 0; at < is.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, is.data() + at, sizeof(T));
    std::memcpy(&b, should_be.data() + at, sizeof(T));
    if (std::abs(value(a) - value(b)) > tolerance * std::abs(value(b))) return false;
  }
  return true;
}

bool near(const spec& call, const bytes& is, const bytes& should_be) {
  if (is.size() != should_be.size()) return false;
  switch (call.type) {
    case datatype::float16:
      return nearly_equal<std::uint16_t>(is, should_be, 1e-2);
    case datatype::float32:
    case datatype::complex64:
      return nearly_equal<float>(is, should_be, 1e-5);
    default:
      return nearly_equal<double>(is, should_be, 1e-13);
  }
}

/// Whether a rank has a result: `expected` says nothing of the others.
bool has_result(const spec& call, std::size_t rank) {
  if (call.what == collective::reduce) return rank == call.root;
  return call.what != collective::exscan || rank > 0;
}

void check_reproducible(const world_case& world, const spec& call) {
  INFO(describe(world), ", ", describe(call), "; ", how_to_replay());
  const auto first = results(world, call, rounds(6, 3));
  const auto again = results(world, call, 1);
  for (std::size_t rank = 0; rank < world.ranks; ++rank) {
    if (!has_result(call, rank)) continue;
    INFO("rank ", rank);
    const bytes& reference = call.what == collective::allreduce ? first[0][0] : first[rank][0];
    bool same = again[rank][0] == reference;
    for (const bytes& each : first[rank]) same = same && each == reference;
    CHECK(same);
    const bytes in_rank_order = expected(call, world.ranks, rank);
    CHECK(near(call, reference, in_rank_order));
    if (world.nodes == layout::one_node) CHECK(reference == in_rank_order);
  }
}

TEST_CASE("rounded sums and products are the same everywhere and every time") {
  constexpr std::size_t all[] = {2, 3, 7, 8};
  constexpr std::size_t few[] = {3};
  const auto ranks = sanitized ? std::span<const std::size_t>(few) : all;
  constexpr layout nodes[] = {layout::one_node, layout::uneven, layout::scattered};
  std::uint64_t number = 0;
  for (const world_case& world : worlds(ranks, nodes)) {
    for (const std::size_t count : {1, 7, 300, 9001, 70001}) {
      if (!is_tried(number++)) continue;
      const datatype type = count % 2 == 0 ? datatype::float32 : datatype::float64;
      const reduction op = count == 300 || count == 7 ? product : sum;
      check_reproducible(world, rounding_call(collective::allreduce, type, op, count));
      check_reproducible(world, rounding_call(collective::reduce, type, op, count));
    }
  }
}

TEST_CASE("every reduction of every type that rounds is the same every time") {
  struct rounding {
    datatype type;
    reduction op;
  };
  constexpr rounding kinds[] = {{datatype::float16, sum},     {datatype::float16, product},
                                {datatype::float32, product}, {datatype::float64, sum},
                                {datatype::complex64, sum},   {datatype::complex128, sum}};
  constexpr collective reductions[] = {collective::reduce,
                                       collective::allreduce,
                                       collective::scan,
                                       collective::exscan,
                                       collective::reduce_scatter_block,
                                       collective::reduce_scatter};
  constexpr std::size_t ranks[] = {3, 8};
  constexpr layout nodes[] = {layout::one_node, layout::uneven};
  const auto some = std::span(ranks).first(sanitized ? 1 : 2);
  std::uint64_t number = 0;
  for (const world_case& world : worlds(some, nodes)) {
    for (const collective what : reductions) {
      for (const rounding& kind : kinds) {
        if (!is_tried(number++)) continue;
        for (const std::size_t count : {5, 3001}) {
          check_reproducible(world, rounding_call(what, kind.type, kind.op, count));
        }
      }
    }
  }
}

TEST_CASE("the ways in which data moves do not change the bits") {
  const spec call = rounding_call(collective::allreduce, datatype::float32, sum, 50001);
  for (const layout nodes : {layout::one_node, layout::even}) {
    const auto lent = results({6, nodes, movement::lent}, call, 1);
    const auto staged = results({6, nodes, movement::staged}, call, 1);
    CHECK(lent[0][0] == staged[0][0]);
  }
}

}  // namespace
}  // namespace muster::testing
