// Every type x every operation of the reductions, and every type moved.

#include <doctest/doctest.h>

#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"

namespace muster::testing {
namespace {

constexpr collective reducing[] = {
    collective::reduce, collective::allreduce, collective::reduce_scatter_block,
    collective::scan,   collective::exscan,    collective::reduce_scatter};
constexpr collective moving[] = {
    collective::bcast,   collective::allgather,  collective::alltoall,
    collective::scatter, collective::gather,     collective::scatterv,
    collective::gatherv, collective::allgatherv, collective::alltoallv};

/// As one of the collectives, with one root, in one of the forms, one of the orders.
spec drawn(random_stream& random, std::span<const collective> from, std::size_t ranks, spec call) {
  call.what = from[random.below(from.size())];
  call.root = has_root(call.what) ? random.below(ranks) : 0;
  call.in_place = random.one_in(2) && call.what != collective::bcast;
  const bool by_arrival = random.one_in(3) && call.op != reduction::none;
  call.order = by_arrival ? combining::by_arrival : combining::by_rank;
  return call;
}

/// Each type with each of its reductions in some collectives, and each of a program's own.
void append_reductions(std::vector<spec>& calls, random_stream& random, std::size_t ranks,
                       std::size_t count) {
  std::vector<spec> each;
  for (std::size_t type = 0; type < datatypes - 1; ++type) {
    for (std::size_t op = 1; op < reductions; ++op) {
      each.push_back(
          {.type = static_cast<datatype>(type), .op = static_cast<reduction>(op), .count = count});
    }
  }
  for (const own_reduction own : own_reductions) {
    each.push_back({.type = datatype::custom, .op = reduction::custom, .count = count, .own = own});
  }
  for (const spec& call : each) {
    if (!supports(call.op, call.type)) continue;
    for (int times = 0; times < 2; ++times) {
      calls.push_back(drawn(random, reducing, ranks, call));
    }
  }
}

std::vector<spec> all_types(std::size_t ranks, std::size_t count) {
  random_stream random(derive(run_seed(), ranks));
  std::vector<spec> calls;
  append_reductions(calls, random, ranks, count);
  for (std::size_t type = 0; type < datatypes - 1; ++type) {
    const spec call{.type = static_cast<datatype>(type), .count = count};
    for (int times = 0; times < 3; ++times) calls.push_back(drawn(random, moving, ranks, call));
  }
  give_seeds(calls, run_seed());
  return calls;
}

void check_all(std::size_t count, std::uint64_t turn) {
  constexpr std::size_t all[] = {1, 2, 3, 8};
  constexpr std::size_t few[] = {3};
  const auto ranks = sanitized ? std::span<const std::size_t>(few) : all;
  for (const world_case& world : worlds_in_turn(ranks, turn)) {
    const std::string wrong = run_world(world, all_types(world.ranks, count), {});
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

TEST_CASE("every type and operation, short") { check_all(13, run_seed()); }
TEST_CASE("every type and operation, long") { check_all(rounds(9001, 4501), run_seed() + 1); }

}  // namespace
}  // namespace muster::testing
