// Collectives that own what they use: values and vectors, in and out.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tests/support/says.hpp"

namespace muster::testing {
namespace {

struct point {
  double x, y;
  bool operator==(const point&) const = default;
};

TEST_CASE("values and vectors, of 1 to 9 ranks") {
  for (const std::size_t ranks : {1, 2, 3, 5, 9}) {
    run_threads(ranks, [](team& on) {
      const auto me = static_cast<std::int64_t>(on.rank());
      const auto all = static_cast<std::int64_t>(on.size());
      CHECK(start(allreduce(on, me + 1, sum)).wait() == all * (all + 1) / 2);
      CHECK(start(allreduce(on, 0.5, max)).wait() == 0.5);
      for (std::size_t root = 0; root < on.size(); ++root) {
        const point from = start(bcast(on, point{static_cast<double>(me), 2}, root)).wait();
        CHECK(from == point{static_cast<double>(root), 2});
      }
      const std::vector<std::int64_t> everybody = start(allgather(on, me)).wait();
      for (std::size_t i = 0; i < on.size(); ++i) CHECK(everybody[i] == static_cast<int>(i));

      std::vector<std::int64_t> two = {me, 100 + me};
      const auto gathered = start(allgather(on, std::move(two))).wait();
      CHECK(gathered.size() == 2 * on.size());
      CHECK(gathered[2 * on.size() - 1] == 100 + all - 1);
      CHECK(start(allreduce(on, std::vector<int>(1000, 1), sum)).wait() ==
            std::vector<int>(1000, static_cast<int>(all)));
      CHECK(start(bcast(on, std::vector<std::int64_t>(3, me), on.size() - 1)).wait() ==
            std::vector<std::int64_t>(3, all - 1));

      std::vector<std::int64_t> blocks(on.size());
      for (std::size_t to = 0; to < on.size(); ++to) {
        blocks[to] = 10 * me + static_cast<std::int64_t>(to);
      }
      const auto received = start(alltoall(on, std::move(blocks))).wait();
      for (std::size_t from = 0; from < on.size(); ++from) {
        CHECK(received[from] == 10 * static_cast<std::int64_t>(from) + me);
      }
      CHECK(start(allgather(on, std::vector<int>())).wait().empty());
    });
  }
}

TEST_CASE("an array is a range of values") {
  run_threads(2, [](team& on) {
    std::uint64_t data[1] = {on.rank() + 5};
    start(bcast(on, data, 1)).wait();
    CHECK(data[0] == 6);
  });
}

TEST_CASE("several in flight, awaited later than begun") {
  run_threads(4, [](team& on) {
    std::vector<future<int>> sums;
    for (int i = 0; i < 40; ++i) sums.push_back(start(allreduce(on, i, sum)));
    for (int i = 0; i < 40; ++i) CHECK(sums[static_cast<std::size_t>(i)].wait() == 4 * i);
  });
}

TEST_CASE("blocks that do not divide are refused, and nothing is broken") {
  run_threads(2, [](team& on) {
    std::string text;
    try {
      start(alltoall(on, std::vector<int>(3))).wait();
    } catch (const error& why) {
      text = why.what();
    }
    CHECK(says(text, "alltoall"));
    CHECK(start(allreduce(on, 1, sum)).wait() == 2);
  });
}

}  // namespace
}  // namespace muster::testing
