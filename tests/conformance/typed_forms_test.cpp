// The typed front: every form with every kind of range and element.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/watchdog.hpp"

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
