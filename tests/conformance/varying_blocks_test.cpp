// Blocks of many segments, and blocks of which sender and receiver have different lengths in mind.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tests/harness/failure.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

TEST_CASE("blocks of more segments than a stage holds") {
  constexpr layout nodes[] = {layout::one_node, layout::uneven};
  constexpr std::size_t ranks[] = {2, 3};
  std::uint64_t number = 0;
  for (const world_case& world : worlds(ranks, nodes)) {
    if (!is_tried(number++)) continue;
    std::vector<spec> calls;
    for (const collective what :
         {collective::scatter, collective::gather, collective::scatterv, collective::gatherv,
          collective::allgatherv, collective::alltoallv}) {
      for (const std::size_t count : {700'000, 1'800'001}) {
        const std::size_t root = has_root(what) ? world.ranks - 1 : 0;
        for (std::size_t i = 0; i < rounds(3, 1); ++i) {
          calls.push_back({what, datatype::byte, reduction::none, count, root, i % 2 == 1});
        }
      }
    }
    give_seeds(calls, run_seed());
    const std::string wrong = run_world(world, calls, {.in_flight = 4, .unpunctual = true});
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
}

/// Every rank's blocks are `length` bytes long, but `odd_rank` believes in one more byte in each
/// direction.
struct disagreement {
  collective what;
  std::size_t length;
  std::size_t odd_rank;
};

task<> call_wrongly(team& of, const disagreement& about, std::vector<std::byte>& send,
                    std::vector<std::byte>& receive) {
  const bool odd = of.rank() == about.odd_rank;
  const std::size_t own = about.length + (odd ? 1 : 0);
  std::vector<std::size_t> counts(of.size(), own);
  if (about.what == collective::alltoallv) counts[of.rank()] = 0;
  const block_layout blocks{counts, {}};
  const std::span mine(send.data(), own);
  const std::span all(receive.data(), own * of.size());
  if (about.what == collective::scatterv) {
    co_await scatterv(of, std::span(send.data(), all.size()), blocks,
                      std::span(receive.data(), own), 0);
  } else if (about.what == collective::gatherv) {
    co_await gatherv(of, mine, all, blocks, 0);
  } else {
    co_await alltoallv(of, std::span(send.data(), all.size()), blocks, all, blocks);
  }
}

/// What each rank is told: some complete their part, and learn of it at the next call.
std::vector<std::string> complaints(const world_case& world, const disagreement& about) {
  std::vector<std::string> said(world.ranks);
  std::mutex guard;
  failure_of([&] {
    run_threads(
        world.ranks,
        [&](team& of) {
          std::vector<std::byte> send((about.length + 1) * of.size());
          std::vector<std::byte> receive(send.size());
          const auto why = failure_of([&] {
            start(of.engine(), with_timeout(20s, call_wrongly(of, about, send, receive))).wait();
            start(of.engine(), with_timeout(20s, barrier(of))).wait();
          });
          const std::lock_guard lock(guard);
          said[of.rank()] = why ? why->what() : "nothing";
        },
        options_for(world));
  });
  return said;
}

TEST_CASE("lengths that do not agree are an error everywhere, naming both") {
  constexpr layout nodes[] = {layout::one_node, layout::scattered};
  constexpr std::size_t ranks[] = {3};
  for (const world_case& world : worlds(ranks, nodes)) {
    for (const collective what :
         {collective::scatterv, collective::gatherv, collective::alltoallv}) {
      for (const std::size_t length : {0, 5, 70'000, 600'000}) {
        const disagreement about{what, length, 1};
        const watchdog alive(std::string(name(what)) + " of different lengths");
        for (const std::string& said : complaints(world, about)) {
          CAPTURE(describe(world));
          CAPTURE(name(what));
          CAPTURE(length);
          CHECK_MESSAGE(said.find(" " + std::to_string(length) + " ") != std::string::npos, said);
          CHECK_MESSAGE(said.find(" " + std::to_string(length + 1) + " ") != std::string::npos,
                        said);
        }
      }
    }
  }
}

// ---- between any ranks, by every algorithm for it

/// The lengths of the blocks that a rank of an alltoallv gives to each and takes of each.
struct lengths {
  std::vector<std::size_t> gives;
  std::vector<std::size_t> takes;

  lengths(const team& of, std::size_t usual) : gives(of.size(), usual), takes(of.size(), usual) {}
};

/// Rank 1 gives more than the others expect, and expects more than they give.
lengths of_other_sum(const team& of, std::size_t usual) {
  lengths result(of, usual);
  if (of.rank() != 1) return result;
  for (const std::size_t other : {0, 2, 3}) {
    result.gives[other] += 2;
    result.takes[other] += 2;
  }
  return result;
}

/// Rank 2 expects more of rank 0 and less of rank 1, which are of one node.
lengths of_same_sum(const team& of, std::size_t usual) {
  lengths result(of, usual);
  if (of.rank() != 2) return result;
  result.takes[0] += 2;
  result.takes[1] -= 2;
  return result;
}

task<> alltoallv_of(team& of, const lengths& by) {
  std::vector<std::byte> send(std::reduce(by.gives.begin(), by.gives.end()));
  std::vector<std::byte> receive(std::reduce(by.takes.begin(), by.takes.end()));
  co_await alltoallv(of, send, {by.gives, {}}, receive, {by.takes, {}});
}

void check_told(const world_case& world, const std::string& algorithm, std::size_t usual,
                lengths (*wrong)(const team&, std::size_t)) {
  INFO(describe(world), ", ", algorithm, ", about ", usual, " bytes");
  const watchdog alive(algorithm + " of different lengths");
  std::vector<std::optional<error>> outcomes(world.ranks);
  const auto call = [&](team& of) {
    of.choose(collective::alltoallv, algorithm);
    outcomes[of.rank()] = failure_of([&] {
      start(of.engine(), with_timeout(20s, alltoallv_of(of, wrong(of, usual)))).wait();
      start(of.engine(), with_timeout(20s, barrier(of))).wait();
    });
  };
  run_threads(world.ranks, call, options_for(world));
  for (const auto& why : outcomes) {
    REQUIRE(why);
    INFO(std::string(why->what()));
    CHECK(why->code() == errc::mismatched_call);
  }
}

TEST_CASE("every alltoallv tells of lengths that do not agree, even where those of nodes do") {
  constexpr layout nodes[] = {layout::one_node, layout::even};
  constexpr std::size_t ranks[] = {4};
  // With what goes to another node together, lengths and all, just short of going in place.
  const std::size_t nearly_in_place = machine::least_unstaged_bytes / 4 - 9;
  std::uint64_t number = 0;
  for (const world_case& world : worlds(ranks, nodes)) {
    for (const char* const algorithm : {"pairwise", "direct", "pap_direct", "pap_shm_direct"}) {
      if (!is_tried(number++)) continue;
      for (const std::size_t usual : {std::size_t{5}, nearly_in_place, std::size_t{70'000}}) {
        check_told(world, algorithm, usual, of_other_sum);
        check_told(world, algorithm, usual, of_same_sum);
      }
    }
  }
}

TEST_CASE("a rank that gives itself another length than it takes is refused") {
  run_threads(2, [](team& of) {
    std::array<int, 4> send{};
    std::array<int, 4> receive{};
    const std::array<std::size_t, 2> equal = {2, 2};
    const std::array<std::size_t, 2> other = {1, 1};
    const auto why = failure_of(
        [&] { start(of.engine(), alltoallv(of, send, {equal, {}}, receive, {other, {}})).wait(); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
  });
}

}  // namespace
}  // namespace muster::testing
