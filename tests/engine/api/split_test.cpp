// Teams made from teams: who is in which, and that their collectives do not disturb each other.

#include <muster/api/split.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

bool says(const error& why, std::string_view part) {
  return std::string_view(why.what()).find(part) != std::string_view::npos;
}

std::vector<thread_options> layouts(std::size_t ranks) {
  std::vector<thread_options> all = {{}, {.share_address_space = false}};
  for (const std::size_t nodes : {2, 3, 17}) {
    if (nodes > ranks) continue;
    thread_options some;
    for (std::size_t rank = 0; rank < ranks; ++rank) some.node_of.push_back(rank % nodes);
    all.push_back(some);
  }
  return all;
}

/// The ranks of the old team that are in this one, in its order, as an allgather says.
std::vector<int> members_of(team& of, std::size_t old_rank) {
  std::vector<int> mine = {static_cast<int>(old_rank)};
  std::vector<int> all(of.size());
  start(allgather(of, mine, all)).wait();
  return all;
}

/// A few collectives of different lengths; what they gave must depend on the members alone.
void check_collectives(team& of, const std::vector<int>& members) {
  for (const std::size_t count : {1, 1000, 200'000}) {
    std::vector<int> values(count, members[of.rank()]);
    start(allreduce(of, values, sum)).wait();
    CHECK(values.back() == std::accumulate(members.begin(), members.end(), 0));
    const std::size_t root = count % of.size();
    std::vector<int> sent(count, of.rank() == root ? 77 : 0);
    start(bcast(of, sent, root)).wait();
    CHECK(sent.front() + sent.back() == 2 * 77);
  }
  start(barrier(of)).wait();
}

struct choice {
  int color;
  int key;
};

std::vector<int> expected_members(const std::vector<choice>& all, int color) {
  std::vector<int> result;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].color == color) result.push_back(static_cast<int>(rank));
  }
  std::sort(result.begin(), result.end(), [&](int a, int b) {
    const auto key = [&](int rank) { return all[static_cast<std::size_t>(rank)].key; };
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  return result;
}

void check_split(team& of, const std::vector<choice>& all) {
  const choice& mine = all[of.rank()];
  const std::unique_ptr<team> part = start(split(of, mine.color, mine.key)).wait();
  CHECK((part == nullptr) == (mine.color == no_color));
  if (part == nullptr) return;
  const std::vector<int> expected = expected_members(all, mine.color);
  REQUIRE(part->size() == expected.size());
  CHECK(expected[part->rank()] == static_cast<int>(of.rank()));
  for (std::size_t rank = 0; rank < part->size(); ++rank) {
    const auto old = static_cast<std::size_t>(expected[rank]);
    CHECK(part->shape().place_of(rank) == of.shape().place_of(old));
  }
  CHECK(members_of(*part, of.rank()) == expected);
  check_collectives(*part, expected);
}

TEST_CASE("colours and keys, against a plain reference") {
  random_stream random(run_seed());
  for (const std::size_t ranks : {1, 2, 3, 5, 8, 17}) {
    for (const thread_options& layout : layouts(ranks)) {
      const watchdog alive("split of " + std::to_string(ranks));
      INFO(ranks, " ranks, ", how_to_replay());
      std::vector<std::vector<choice>> rounds(3, std::vector<choice>(ranks));
      for (std::vector<choice>& round : rounds) {
        for (choice& each : round) {
          each.color = random.one_in(5) ? no_color : static_cast<int>(random.below(3)) - 1;
          each.key = static_cast<int>(random.below(5)) - 2;
        }
      }
      run_threads(
          ranks,
          [&](team& of) {
            for (const auto& round : rounds) check_split(of, round);
          },
          layout);
    }
  }
}

TEST_CASE("rows and columns of a grid, at once") {
  constexpr std::size_t width = 3;
  for (const thread_options& layout : layouts(12)) {
    const watchdog alive("grid");
    run_threads(
        12,
        [](team& of) {
          const auto x = static_cast<int>(of.rank() % width);
          const auto y = static_cast<int>(of.rank() / width);
          auto rows = start(split(of, y, x));
          auto columns = start(split(of, x, y));
          const auto row = rows.wait();
          const auto column = columns.wait();
          for (int round = 0; round < 30; ++round) {
            const std::size_t count = round % 10 == 0 ? 100'000 : 3;
            std::vector<int> in_row(count, x + 1);
            std::vector<int> in_column(count, y + 1);
            // Different orders on different ranks, on different teams.
            std::vector<future<>> running;
            if ((of.rank() + static_cast<std::size_t>(round)) % 2 == 0) {
              running.push_back(start(allreduce(*row, in_row, sum)));
              running.push_back(start(allreduce(*column, in_column, sum)));
            } else {
              running.push_back(start(allreduce(*column, in_column, sum)));
              running.push_back(start(allreduce(*row, in_row, sum)));
            }
            for (future<>& each : running) each.wait();
            CHECK(in_row.back() == 6);
            CHECK(in_column.back() == 10);
          }
        },
        layout);
  }
}

TEST_CASE("duplicates and their original, with operations in flight on all, in any order") {
  for (const thread_options& layout : layouts(5)) {
    const watchdog alive("duplicates in flight");
    run_threads(
        5,
        [](team& of) {
          std::vector<std::unique_ptr<team>> copies;
          std::vector<team*> all = {&of};
          for (int i = 0; i < 3; ++i) {
            copies.push_back(start(duplicate(of)).wait());
            all.push_back(copies.back().get());
          }
          random_stream random(derive(run_seed(), of.rank()));
          constexpr std::size_t each = 40;
          std::vector<std::vector<std::vector<int>>> values(all.size());
          for (auto& of_team : values) {
            for (std::size_t i = 0; i < each; ++i) of_team.emplace_back(i % 8 == 7 ? 50'000 : 4, 1);
          }
          std::vector<future<>> running;
          std::vector<std::size_t> begun(all.size());
          while (running.size() < each * all.size()) {
            const std::size_t on = random.below(all.size());
            if (begun[on] == each) continue;
            running.push_back(start(allreduce(*all[on], values[on][begun[on]++], sum)));
          }
          for (future<>& one : running) one.wait();
          for (const auto& of_team : values) {
            for (const auto& one : of_team) CHECK(one.back() == 5);
          }
        },
        layout);
  }
}

/// Operations of several lengths, each on a team that was made for it.
std::vector<std::unique_ptr<team>> teams_for_runs(team& of, std::span<const std::size_t> counts) {
  std::vector<std::unique_ptr<team>> all;
  for (const std::size_t count : counts) {
    // What one rank needs, all have.
    // Between nodes short ones go through pipelines, too.
    const bool is_long = count > 10'000 || of.shape().nodes() > 1;
    const bool needs_long = is_long && of.rank() == 1;
    const auto needs = needs_long ? stage_kind::very_long : stage_kind::none;
    all.push_back(start(duplicate_for_runs(of, needs)).wait());
  }
  return all;
}

TEST_CASE("teams for operations that are run again and again, in another order on each rank") {
  constexpr std::size_t counts[] = {1, 100'000, 30, 2000, 1, 200'000, 900};
  for (const thread_options& layout : layouts(4)) {
    const watchdog alive("runs in any order");
    INFO(how_to_replay());
    run_threads(
        4,
        [&](team& of) {
          const auto teams = teams_for_runs(of, counts);
          std::vector<std::vector<int>> values;
          std::vector<plan> plans;
          for (std::size_t i = 0; i < teams.size(); ++i) {
            values.emplace_back(counts[i]);
            plans.emplace_back(allreduce(*teams[i], values.back(), sum));
          }
          random_stream random(derive(run_seed(), of.rank()));
          for (int round = 0; round < 40; ++round) {
            std::vector<std::size_t> order(teams.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            for (std::size_t i = order.size(); i > 1; --i) {
              std::swap(order[random.below(i)], order[i - 1]);
            }
            std::vector<future<>> running;
            for (const std::size_t i : order) {
              std::ranges::fill(values[i], round);
              running.push_back(start(plans[i].run()));
            }
            for (future<>& each : running) each.wait();
            for (const auto& each : values) CHECK(each.back() == 4 * round);
          }
        },
        layout);
  }
}

TEST_CASE("a team that was made for short runs refuses long ones, and stays whole") {
  const watchdog alive("long on a team for short runs");
  run_threads(2, [](team& of) {
    of.choose(collective::allreduce, "flat_long");
    const auto short_runs = start(duplicate_for_runs(of, stage_kind::one_way)).wait();
    const auto long_runs = start(duplicate_for_runs(of, stage_kind::lengthy)).wait();
    std::vector<int> many(60'000, 1);
    const auto why = failure_of([&] { start(allreduce(*short_runs, many, sum)).wait(); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(*why, "allreduce"));
    CHECK(says(*why, "takes long stages, and its team was made without"));
    short_runs->choose(collective::allreduce, {});
    std::array<int, 3> few = {1, 1, 1};
    start(allreduce(*short_runs, few, sum)).wait();
    CHECK(few == std::array<int, 3>{2, 2, 2});
    start(allreduce(*long_runs, many, sum)).wait();
    CHECK(std::ranges::count(many, 2) == std::ssize(many));
  });
}

TEST_CASE("made while other operations are in flight, many at once") {
  for (const thread_options& layout : layouts(3)) {
    const watchdog alive("made in flight");
    run_threads(
        3,
        [](team& of) {
          random_stream random(derive(run_seed(), of.rank()));
          std::vector<future<std::unique_ptr<team>>> made;
          std::vector<future<>> between;
          std::vector<std::array<int, 3>> values(50, {1, 1, 1});
          for (std::array<int, 3>& each : values) {
            made.push_back(start(duplicate(of)));
            between.push_back(start(allreduce(of, each, sum)));
            // Ranks get on differently far meanwhile.
            for (std::size_t i = random.below(4); i > 0; --i) of.engine().poll();
          }
          std::vector<std::unique_ptr<team>> teams;
          for (auto& each : made) teams.push_back(each.wait());
          for (auto& each : between) each.wait();
          for (const auto& each : values) CHECK(each[2] == 3);
          for (const auto& each : teams) CHECK(members_of(*each, of.rank()).size() == 3);
        },
        layout);
  }
}

TEST_CASE("teams of teams, which outlive those they were made from") {
  for (const thread_options& layout : layouts(8)) {
    const watchdog alive("nested");
    run_threads(
        8,
        [](team& of) {
          std::unique_ptr<team> part = start(duplicate(of)).wait();
          std::vector<int> old = members_of(*part, of.rank());
          while (part->size() > 1) {
            const auto half = static_cast<int>(part->rank() * 2 / part->size());
            // The other way round each time.
            part = start(split(*part, half, -static_cast<int>(part->rank()))).wait();
            old = members_of(*part, of.rank());
            check_collectives(*part, old);
          }
          CHECK(old[0] == static_cast<int>(of.rank()));
          start(barrier(of)).wait();
        },
        layout);
  }
}

TEST_CASE("subsets, in the order given") {
  for (const thread_options& layout : layouts(5)) {
    const watchdog alive("subset");
    run_threads(
        5,
        [](team& of) {
          const std::vector<std::size_t> list = {4, 0, 3};
          const auto part = start(subset(of, list)).wait();
          const auto place = std::ranges::find(list, of.rank());
          CHECK((part == nullptr) == (place == list.end()));
          if (part == nullptr) return;
          CHECK(part->rank() == static_cast<std::size_t>(place - list.begin()));
          CHECK(members_of(*part, of.rank()) == std::vector<int>{4, 0, 3});
        },
        layout);
  }
}

TEST_CASE("bad lists are refused, and the team stays whole") {
  run_threads(3, [](team& of) {
    const auto refused = [&](std::vector<std::size_t> list, std::string_view part) {
      const auto why = failure_of([&] { start(subset(of, list)).wait(); });
      REQUIRE(why);
      CHECK(why->code() == errc::invalid_argument);
      CHECK(says(*why, "subset"));
      CHECK(says(*why, part));
    };
    refused({}, "empty");
    refused({0, 3}, "from 0 to 2");
    refused({2, 1, 2}, "2 twice");
    start(barrier(of)).wait();
  });
}

TEST_CASE("what was chosen for a team is chosen for those made from it") {
  run_threads(2, [](team& of) {
    of.choose(collective::barrier, "srm");
    const auto copy = start(duplicate(of)).wait();
    CHECK(chosen_algorithm(*copy, arguments{}) == "srm");
    copy->choose(collective::barrier, {});
    CHECK(chosen_algorithm(of, arguments{}) == "srm");
  });
}

TEST_CASE("on engines with threads of their own") {
  const watchdog alive("progress threads");
  run_threads(3,
              [](team& of) {
                const auto copy = start(duplicate(of)).wait();
                const auto pair = start(split(of, of.rank() == 0 ? 1 : 0, 0)).wait();
                std::array<int, 1> one = {1};
                std::array<int, 1> two = {1};
                auto first = start(allreduce(*copy, one, sum));
                start(allreduce(*pair, two, sum)).wait();
                first.wait();
                CHECK(one[0] == 3);
                CHECK(two[0] == (of.rank() == 0 ? 1 : 2));
              },
              {.progress = progress::thread});
}

TEST_CASE("shared buffers of teams made from others") {
  for (const thread_options& layout : layouts(4)) {
    const watchdog alive("shared buffers");
    run_threads(
        4,
        [](team& of) {
          const auto half = start(split(of, of.rank() < 2 ? 0 : 1, 0)).wait();
          shared_buffer<int> values(*half, 100'000);
          std::fill(values.begin(), values.end(), 1);
          start(allreduce(*half, values, sum)).wait();
          CHECK(values[99'999] == 2);
        },
        layout);
  }
}

}  // namespace
}  // namespace muster::testing
