// The typed front: every form with every kind of range and element.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include <muster/muster.hpp>

#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t ranks = 3;

struct point {
  float x;
  std::int16_t tag;
};
enum class colour : std::uint8_t { red, green, blue };

void run_ranks(const std::function<void(team&)>& body) {
  const watchdog alive("typed forms");
  run_threads(ranks, body);
}

TEST_CASE_TEMPLATE("reductions of every number type", T, char, signed char, unsigned char, short,
                   unsigned short, int, unsigned, long, unsigned long, long long,
                   unsigned long long, std::int8_t, std::uint64_t, float, double, char16_t) {
  run_ranks([](team& of) {
    const auto me = static_cast<T>(of.rank() + 1);
    const std::vector<T> mine = {me, static_cast<T>(me + 1), 2};
    std::vector<T> result(3);
    start(allreduce(of, mine, result, sum)).wait();
    CHECK(result == std::vector<T>{6, 9, 6});
    start(allreduce(of, mine, result, product)).wait();
    CHECK(result == std::vector<T>{6, 24, 8});
    start(reduce(of, mine, result, max, 1)).wait();
    if (of.rank() == 1) CHECK(result == std::vector<T>{3, 4, 2});
    std::vector<T> both = mine;
    start(allreduce(of, both, min)).wait();
    CHECK(both == std::vector<T>{1, 2, 2});
    both = mine;
    start(reduce(of, both, sum, 2)).wait();
    CHECK(both == (of.rank() == 2 ? std::vector<T>{6, 9, 6} : mine));
  });
}

TEST_CASE_TEMPLATE("any trivially copyable element is moved", T, point, colour, bool*, std::byte,
                   double, std::uint16_t) {
  run_ranks([](team& of) {
    std::array<std::array<T, 2>, ranks> all{};  // what each rank sends
    auto* raw = reinterpret_cast<unsigned char*>(all.data());
    for (std::size_t i = 0; i < sizeof all; ++i) raw[i] = static_cast<unsigned char>(i % 2);
    const auto same = [](const auto& a, const auto& b) {
      return std::memcmp(a.data(), b.data(), sizeof(T) * a.size()) == 0;
    };
    const std::array<T, 2>& mine = all[of.rank()];

    std::vector<T> gathered(2 * ranks);
    start(allgather(of, mine, gathered)).wait();
    CHECK(std::memcmp(gathered.data(), all.data(), sizeof all) == 0);

    std::vector<T> copy(mine.begin(), mine.end());
    start(bcast(of, copy, 2)).wait();
    CHECK(same(copy, all[2]));
  });
}

TEST_CASE("alltoall transposes, in place too") {
  run_ranks([](team& of) {
    std::vector<int> send(2 * ranks);
    for (std::size_t to = 0; to < ranks; ++to) {
      send[2 * to] = static_cast<int>(of.rank() * 10 + to);
      send[2 * to + 1] = -send[2 * to];
    }
    std::vector<int> received(2 * ranks);
    start(alltoall(of, send, received)).wait();
    start(alltoall(of, send)).wait();
    CHECK(send == received);
    for (std::size_t from = 0; from < ranks; ++from) {
      CHECK(received[2 * from] == static_cast<int>(from * 10 + of.rank()));
      CHECK(received[2 * from + 1] == -received[2 * from]);
    }
  });
}

TEST_CASE("ranges of every kind") {
  run_ranks([](team& of) {
    double plain[4] = {1, 2, 3, 4};
    const std::span<double> middle(plain + 1, 2);
    start(allreduce(of, middle, sum)).wait();
    CHECK(plain[0] == 1);
    CHECK(plain[1] == 6);
    CHECK(plain[2] == 9);
    CHECK(plain[3] == 4);

    const std::array<std::uint32_t, 1> mine = {static_cast<std::uint32_t>(of.rank())};
    std::uint32_t all[ranks] = {};
    start(allgather(of, std::span(mine), all)).wait();
    for (std::uint32_t i = 0; i < ranks; ++i) CHECK(all[i] == i);

    shared_buffer<float> shared(of, 5);
    if (of.rank() == 0) std::iota(shared.begin(), shared.end(), 1.0F);
    start(bcast(of, shared, 0)).wait();
    CHECK(shared[4] == 5.0F);

    std::vector<int> in_place(ranks);
    in_place[of.rank()] = static_cast<int>(of.rank()) + 7;
    start(allgather(of, in_place)).wait();
    CHECK(in_place == std::vector<int>{7, 8, 9});
  });
}

// ---- what rank i contributes is i + 1, or i + 1 times the number of the block's rank

std::vector<int> blocks_of(std::size_t rank, std::span<const std::size_t> counts) {
  std::vector<int> all;
  for (std::size_t to = 0; to < counts.size(); ++to) {
    all.insert(all.end(), counts[to], static_cast<int>(10 * (rank + 1) + to));
  }
  return all;
}
constexpr std::array<std::size_t, ranks> alike = {2, 2, 2};
constexpr std::array<std::size_t, ranks> uneven = {3, 0, 2};

std::vector<int> repeated(std::size_t count, int value) { return std::vector<int>(count, value); }

TEST_CASE("scatter and gather, in place too") {
  run_ranks([](team& of) {
    const bool root = of.rank() == 1;
    const auto mine = repeated(2, 20 + static_cast<int>(of.rank()));
    const std::vector<int> all = root ? blocks_of(1, alike) : std::vector<int>();
    std::vector<int> block(2);
    start(scatter(of, all, block, 1)).wait();
    CHECK(block == mine);

    std::vector<int> data = root ? all : std::vector<int>(2);
    start(scatter(of, data, 1)).wait();
    CHECK(data == (root ? all : mine));

    std::vector<int> gathered(root ? 6 : 0);
    start(gather(of, std::span<const int>(mine), gathered, 1)).wait();
    CHECK(gathered == all);
    data = root ? std::vector<int>{0, 0, 21, 21, 0, 0} : mine;
    start(gather(of, data, 1)).wait();
    CHECK(data == (root ? all : mine));
  });
}

TEST_CASE("scatterv and gatherv, in place too") {
  run_ranks([](team& of) {
    const bool root = of.rank() == 2;
    const std::array<std::size_t, ranks> places = {4, 0, 1};
    const block_layout blocks = root ? block_layout{uneven, places} : block_layout{};
    const std::vector<int> all = root ? std::vector<int>{7, 2, 2, 7, 1, 1, 1} : std::vector<int>();
    const std::vector<int> mine =
        repeated(uneven[of.rank()], of.rank() == 0 ? 1 : static_cast<int>(of.rank()));
    std::vector<int> block(uneven[of.rank()]);
    start(scatterv(of, all, blocks, block, 2)).wait();
    CHECK(block == mine);
    std::vector<int> data = root ? all : block;
    start(scatterv(of, data, blocks, 2)).wait();
    CHECK(data == (root ? all : mine));

    std::vector<int> gathered(all.size(), 7);
    start(gatherv(of, mine, gathered, blocks, 2)).wait();
    CHECK(gathered == all);
    data = root ? std::vector<int>{7, 2, 2, 7, 0, 0, 0} : mine;
    start(gatherv(of, data, blocks, 2)).wait();
    CHECK(data == (root ? all : mine));
  });
}

TEST_CASE("allgatherv, in place too") {
  run_ranks([](team& of) {
    const auto mine = repeated(uneven[of.rank()], static_cast<int>(of.rank()));
    std::array<int, 5> all{};
    start(allgatherv(of, mine, all, {uneven, {}})).wait();
    CHECK(all == std::array<int, 5>{0, 0, 0, 2, 2});
    const std::array<std::size_t, ranks> places = {2, 0, 0};
    std::array<int, 5> data = {9, 9, 9, 9, 9};
    std::copy_n(mine.begin(), mine.size(), data.begin() + (of.rank() == 0 ? 2 : 0));
    start(allgatherv(of, data, {uneven, places})).wait();
    CHECK(data == std::array<int, 5>{2, 2, 0, 0, 0});
  });
}

TEST_CASE("alltoallv, in place too, and of bytes") {
  run_ranks([](team& of) {
    // Rank i sends i + 1 elements to everyone.
    const std::size_t me = of.rank();
    const auto count = me + 1;
    const std::array<std::size_t, ranks> given = {count, count, count};
    const std::array<std::size_t, ranks> taken = {1, 2, 3};
    const std::vector<int> send = blocks_of(me, given);
    std::vector<int> received(6);
    start(alltoallv(of, send, {given, {}}, received, {taken, {}})).wait();
    const int to = static_cast<int>(me);
    const std::vector<int> should_be = {10 + to, 20 + to, 20 + to, 30 + to, 30 + to, 30 + to};
    CHECK(received == should_be);

    std::vector<int> data = blocks_of(me, alike);
    start(alltoallv(of, data, {alike, {}})).wait();
    CHECK(data == std::vector<int>{10 + to, 10 + to, 20 + to, 20 + to, 30 + to, 30 + to});

    std::array<std::size_t, ranks> given_bytes{};
    std::array<std::size_t, ranks> taken_bytes{};
    for (std::size_t i = 0; i < ranks; ++i) {
      given_bytes[i] = given[i] * sizeof(int);
      taken_bytes[i] = taken[i] * sizeof(int);
    }
    std::vector<int> again(6);
    start(alltoallw(of, std::as_bytes(std::span(send)), {given_bytes, {}},
                    std::as_writable_bytes(std::span(again)), {taken_bytes, {}}))
        .wait();
    CHECK(again == should_be);
  });
}

TEST_CASE("reduce_scatter, in place too") {
  run_ranks([](team& of) {
    const int to = static_cast<int>(of.rank());
    const std::vector<int> send = blocks_of(of.rank(), alike);
    std::vector<int> block(2);
    start(reduce_scatter_block(of, send, block, sum)).wait();
    CHECK(block == repeated(2, 60 + 3 * to));
    std::vector<int> data = send;
    start(reduce_scatter_block(of, data, max)).wait();
    data.resize(2);
    CHECK(data == repeated(2, 30 + to));

    const std::vector<int> send_uneven = blocks_of(of.rank(), uneven);
    std::vector<int> own(uneven[of.rank()]);
    start(reduce_scatter(of, send_uneven, uneven, own, sum)).wait();
    CHECK(own == repeated(own.size(), 60 + 3 * to));
    data = send_uneven;
    start(reduce_scatter(of, data, uneven, min)).wait();
    data.resize(own.size());
    CHECK(data == repeated(own.size(), 10 + to));
  });
}

TEST_CASE("scan and exscan, in place too") {
  run_ranks([](team& of) {
    const int me = static_cast<int>(of.rank());
    const std::array<int, 2> mine = {me + 1, 10};
    std::array<int, 2> result = {-1, -1};
    start(exscan(of, mine, result, sum)).wait();
    CHECK(result ==
          (me == 0 ? std::array<int, 2>{-1, -1} : std::array<int, 2>{me * (me + 1) / 2, 10 * me}));
    start(scan(of, mine, result, sum)).wait();
    CHECK(result == std::array<int, 2>{(me + 1) * (me + 2) / 2, 10 * (me + 1)});
    std::array<int, 2> data = mine;
    start(scan(of, data, max)).wait();
    CHECK(data == mine);
    start(exscan(of, data, in_arrival_order(max))).wait();
    CHECK(data == (me == 0 ? mine : std::array<int, 2>{me, 10}));
  });
}

TEST_CASE("reductions of half, complex, boolean and indexed elements") {
  run_ranks([](team& of) {
    const auto me = static_cast<float>(of.rank());
    std::array<float16, 1> half = {float16(me + 0.5F)};
    start(allreduce(of, half, sum)).wait();
    CHECK(static_cast<float>(half[0]) == 4.5F);
    std::array<bfloat16, 1> brain = {bfloat16(me + 0.5F)};
    start(allreduce(of, brain, max)).wait();
    CHECK(static_cast<float>(brain[0]) == 2.5F);
    std::array<std::complex<double>, 1> turn = {std::complex<double>(0, 1)};
    start(allreduce(of, turn, product)).wait();
    CHECK(turn[0] == std::complex<double>(0, -1));
    std::array<bool, 2> both = {of.rank() == 1, true};
    start(allreduce(of, both, logical_and)).wait();
    CHECK_FALSE(both[0]);
    CHECK(both[1]);
    std::array<unsigned, 1> bits = {1U << of.rank()};
    start(allreduce(of, bits, bit_or)).wait();
    CHECK(bits[0] == 7);
    std::array<indexed<float>, 2> found = {{{me, 5}, {1, static_cast<std::int32_t>(of.rank())}}};
    start(allreduce(of, found, maxloc)).wait();
    CHECK(found[0] == indexed<float>{2, 5});
    CHECK(found[1] == indexed<float>{1, 0});
  });
}

TEST_CASE("reductions of a program's own") {
  run_ranks([](team& of) {
    struct word {
      std::array<char, 4> letters;
    };
    const auto longest = make_reduction<word>([](const word& a, const word& b) {
      word all = a;
      std::size_t end = 0;
      while (end < all.letters.size() && all.letters[end] != 0) ++end;
      for (std::size_t i = 0; end < all.letters.size(); ++i) all.letters[end++] = b.letters[i];
      return all;
    });
    const std::array<word, 1> mine = {word{{static_cast<char>('a' + of.rank())}}};
    std::array<word, 1> all{};
    start(allreduce(of, mine, all, longest)).wait();
    CHECK(all[0].letters == std::array<char, 4>{'a', 'b', 'c', 0});
    start(scan(of, mine, all, longest)).wait();
    CHECK(all[0].letters[of.rank()] == 'a' + static_cast<char>(of.rank()));
  });
}

task<double> average(team& of, double mine) {
  std::array<double, 1> one = {mine};
  co_await allreduce(of, one, sum);
  co_await barrier(of);
  co_return one[0] / static_cast<double>(of.size());
}

TEST_CASE("collectives are awaited in coroutines") {
  run_ranks(
      [](team& of) { CHECK(start(average(of, static_cast<double>(of.rank()))).wait() == 1.0); });
}

TEST_CASE("buffers that would not outlive the call are refused by the compiler") {
  static_assert(send_buffer<std::vector<int>&>);
  static_assert(send_buffer<const std::vector<int>&>);
  static_assert(send_buffer<std::span<const int>>);
  static_assert(!send_buffer<std::vector<int>>);
  static_assert(!receive_buffer<const std::vector<int>&>);
  static_assert(!receive_buffer<std::span<const int>>);
  static_assert(!send_buffer<std::vector<std::vector<int>>&>);
  static_assert(number<bool>);
  static_assert(!number<long double>);
  static_assert(!number<point>);
}

}  // namespace
}  // namespace muster::testing
