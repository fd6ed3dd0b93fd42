// Messages from rank to rank: by tag, of any length, in any order; and exchanges that only senders
// know of.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/layouts.hpp"
#include "tests/support/says.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

const std::vector<std::size_t>& lengths() {
  static const std::vector<std::size_t> all = {0,      1,      7,      4096,    16384,
                                               32'767, 32'768, 32'769, 200'001, 1'000'000};
  return all;
}

std::vector<std::uint8_t> content(std::size_t from, std::size_t to, std::uint64_t tag,
                                  std::size_t length) {
  std::vector<std::uint8_t> bytes(length);
  random_stream random(from * 1000 + to * 100 + tag);
  for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(random.next());
  return bytes;
}

TEST_CASE("every rank to every rank, of any length, tags in another order") {
  std::uint64_t number = 0;
  for (const std::size_t ranks : {1, 2, 5}) {
    for (const thread_options& layout : all_layouts_and_threads(ranks)) {
      if (!is_tried(number++)) continue;
      const watchdog alive("messages");
      run_threads(
          ranks,
          [](team& of) {
            const std::size_t count = lengths().size();
            std::vector<std::vector<std::uint8_t>> sent;
            std::vector<std::vector<std::uint8_t>> received;
            for (std::size_t peer = 0; peer < of.size(); ++peer) {
              for (std::size_t tag = 0; tag < count; ++tag) {
                sent.push_back(content(of.rank(), peer, tag, lengths()[tag]));
                received.emplace_back(lengths()[tag]);
              }
            }
            std::vector<future<>> sending;
            std::vector<future<std::size_t>> receiving;
            for (std::size_t i = 0; i < sent.size(); ++i) {
              sending.push_back(start(of.engine(), of.send(i / count, i % count, sent[i])));
            }
            for (std::size_t i = received.size(); i-- > 0;) {
              receiving.push_back(
                  start(of.engine(), of.receive(i / count, i % count, received[i])));
            }
            for (auto& each : receiving) each.wait();
            for (auto& each : sending) each.wait();
            for (std::size_t i = 0; i < received.size(); ++i) {
              CHECK(received[i] == content(i / count, of.rank(), i % count, lengths()[i % count]));
            }
            start(barrier(of)).wait();
          },
          layout);
    }
  }
}

TEST_CASE("messages of one tag come in order, and may be shorter than there is room") {
  for (const thread_options& layout : all_layouts_and_threads(2)) {
    const watchdog alive("order of messages");
    run_threads(
        2,
        [](team& of) {
          constexpr std::size_t count = 300;
          const auto length = [](std::size_t i) { return i % 17 == 0 ? 20'000 + i : i % 5; };
          const auto program = [&]() -> task<> {
            std::vector<std::uint32_t> data(30'000);
            for (std::size_t i = 0; i < count; ++i) {
              if (of.rank() == 0) {
                std::ranges::fill(data, static_cast<std::uint32_t>(i));
                co_await of.send(1, 5, std::span(data).first(length(i)));
              } else {
                const std::size_t came = co_await of.receive(0, 5, data);
                CHECK(came == length(i));
                if (came != 0) CHECK(data[came - 1] == i);
              }
            }
          };
          start(of.engine(), program()).wait();
          start(barrier(of)).wait();
        },
        layout);
  }
}

TEST_CASE("messages and collectives at once") {
  for (const thread_options& layout : all_layouts_and_threads(3)) {
    const watchdog alive("messages and collectives");
    run_threads(
        3,
        [](team& of) {
          const std::size_t next = (of.rank() + 1) % 3;
          const std::size_t before = (of.rank() + 2) % 3;
          const auto program = [&]() -> task<> {
            for (int round = 0; round < 100; ++round) {
              std::vector<int> mine(round % 7 == 0 ? 50'000 : 10, static_cast<int>(of.rank()));
              std::vector<int> got(mine.size());
              std::vector<int> total(1000, 1);
              auto sum_up = start(of.engine(), allreduce(of, total, sum));
              auto sends = start(of.engine(), of.send(next, 1, mine));
              CHECK(co_await of.receive(before, 1, got) == got.size());
              co_await sends;
              co_await sum_up;
              CHECK(got.back() == static_cast<int>(before));
              CHECK(total.back() == 3);
            }
          };
          start(of.engine(), program()).wait();
        },
        layout);
  }
}

TEST_CASE("no such rank") {
  run_threads(2, [](team& of) {
    std::array<int, 2> data{};
    const auto to = failure_of([&] { static_cast<void>(of.send(2, 0, data)); });
    REQUIRE(to);
    CHECK(to->code() == errc::invalid_argument);
    CHECK(says(to->what(), "send: to is 2; expected a rank from 0 to 1"));
    const auto from = failure_of([&] { static_cast<void>(of.receive(9, 0, data)); });
    REQUIRE(from);
    CHECK(says(from->what(), "receive: from is 9; expected a rank from 0 to 1"));
    start(barrier(of)).wait();
  });
}

TEST_CASE("a message that is longer than there is room breaks the team, and is named") {
  for (const std::size_t length : {10, 100'000}) {
    for (const thread_options& layout : all_layouts_and_threads(2)) {
      const watchdog alive("too long");
      run_threads(
          2,
          [length](team& of) {
            std::vector<int> data(length);
            const auto why = failure_of([&] {
              if (of.rank() == 0) {
                start(of.engine(), of.send(1, 77, data)).wait();
              } else {
                start(of.engine(), of.receive(0, 77, std::span(data).first(length - 1))).wait();
              }
              while (!of.failure()) of.engine().poll();
              of.require_whole();
            });
            REQUIRE(why);
            CHECK(why->code() == errc::mismatched_call);
            CHECK(says(why->what(), "with tag 77"));
          },
          {layout.node_of, layout.network, layout.connections, layout.share_address_space});
    }
  }
}

TEST_CASE("a receive that waits for nothing yet may be stopped, and breaks nothing") {
  for (const thread_options& layout : all_layouts_and_threads(2)) {
    const watchdog alive("stopped receive");
    run_threads(
        2,
        [](team& of) {
          std::array<int, 3> data{};
          const std::size_t peer = 1 - of.rank();
          const auto why = failure_of(
              [&] { start(of.engine(), with_timeout(5ms, of.receive(peer, 1, data))).wait(); });
          REQUIRE(why);
          CHECK(why->code() == errc::deadline_exceeded);
          {
            const auto destroyed = start(of.engine(), of.receive(peer, 1, data));
          }
          CHECK(!of.failure());
          start(barrier(of)).wait();
          std::array<int, 3> mine = {1, 2, static_cast<int>(of.rank())};
          auto sends = start(of.engine(), of.send(peer, 1, mine));
          CHECK(start(of.engine(), of.receive(peer, 1, data)).wait() == 3);
          sends.wait();
          CHECK(data[2] == static_cast<int>(peer));
          start(barrier(of)).wait();
        },
        layout);
  }
}

TEST_CASE("a long message that is stopped half-way breaks the team for both") {
  for (const thread_options& layout : all_layouts_and_threads(2)) {
    const watchdog alive("stopped send");
    run_threads(
        2,
        [](team& of) {
          std::vector<int> data(100'000);
          if (of.rank() == 0) {
            const auto why = failure_of(
                [&] { start(of.engine(), with_timeout(5ms, of.send(1, 1, data))).wait(); });
            REQUIRE(why);
            CHECK(why->code() == errc::deadline_exceeded);
          } else {
            const auto why = failure_of([&] { start(of.engine(), of.receive(0, 2, data)).wait(); });
            REQUIRE(why);
            CHECK(why->code() == errc::deadline_exceeded);
          }
          CHECK(of.failure());
        },
        layout);
  }
}

TEST_CASE("a rank that is gone is not waited for") {
  for (thread_options layout : all_layouts_and_threads(2)) {
    const watchdog alive("gone");
    run_threads(
        2,
        [](team& of) {
          std::array<int, 3> data{};
          if (of.rank() == 0) {
            start(of.engine(), of.send(1, 1, data)).wait();
            return;
          }
          CHECK(start(of.engine(), of.receive(0, 1, data)).wait() == 3);
          const auto why = failure_of([&] { start(of.engine(), of.receive(0, 2, data)).wait(); });
          REQUIRE(why);
          CHECK(why->code() == errc::rank_left);
          CHECK(why->rank() == 0);
        },
        layout);
  }
}

TEST_CASE("sparse exchanges: any pattern, any lengths") {
  const std::uint64_t seed = run_seed();
  std::uint64_t number = 0;
  for (const std::size_t ranks : {1, 2, 3, 8, 17}) {
    for (const thread_options& layout : all_layouts_and_threads(ranks)) {
      if (!is_tried(number++)) continue;
      const watchdog alive("sparse exchange");
      run_threads(
          ranks,
          [seed](team& of) {
            for (std::uint64_t round = 0; round < 8; ++round) {
              // All ranks can work out who sends what.
              const auto length = [&](std::size_t from, std::size_t to) -> std::size_t {
                random_stream random(derive(seed, (round * 32 + from) * 32 + to));
                const std::uint64_t kind = random.next() % 8;
                if (kind < 5) return std::size_t{0} - 1;  // nothing
                return kind == 5 ? 0 : random.next() % (kind == 6 ? 100 : 40'000);
              };
              std::vector<std::vector<std::int64_t>> data(of.size());
              std::vector<block_to<std::int64_t>> blocks;
              for (std::size_t to = of.size(); to-- > 0;) {
                const std::size_t count = length(of.rank(), to);
                if (count == std::size_t{0} - 1) continue;
                data[to].assign(count, static_cast<std::int64_t>(of.rank() * 100 + to));
                blocks.push_back({to, data[to]});
              }
              const auto got = start(of.engine(), sparse_alltoallv(of, blocks)).wait();
              std::size_t at = 0;
              for (std::size_t from = 0; from < of.size(); ++from) {
                const std::size_t count = length(from, of.rank());
                if (count == std::size_t{0} - 1) continue;
                REQUIRE(at < got.size());
                CHECK(got[at].rank == from);
                CHECK(got[at].data ==
                      std::vector<std::int64_t>(count,
                                                static_cast<std::int64_t>(from * 100 + of.rank())));
                ++at;
              }
              CHECK(at == got.size());
            }
            start(barrier(of)).wait();
          },
          layout);
    }
  }
}

TEST_CASE("sparse exchanges refuse a rank that does not exist, or is named twice") {
  run_threads(2, [](team& of) {
    const std::array<int, 1> data = {1};
    const auto twice = failure_of([&] {
      std::vector<block_to<int>> blocks = {{1, data}, {1, data}};
      start(of.engine(), sparse_alltoallv(of, blocks)).wait();
    });
    REQUIRE(twice);
    CHECK(twice->code() == errc::invalid_argument);
    CHECK(says(twice->what(), "two blocks for rank 1"));
    const auto beyond = failure_of([&] {
      std::vector<block_to<int>> blocks = {{2, data}};
      start(of.engine(), sparse_alltoallv(of, blocks)).wait();
    });
    REQUIRE(beyond);
    CHECK(says(beyond->what(), "a block's rank is 2"));
    start(barrier(of)).wait();
  });
}

}  // namespace
}  // namespace muster::testing
