// Views in memory that the host cannot access: what travels is copied through memory that it can,
// in segments where it is long, and nothing else touches it.

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

#include "tests/engine/kokkos/device.hpp"
#include "tests/engine/kokkos/ranks.hpp"
#include "tests/engine/kokkos/views.hpp"
#include "tests/support/says.hpp"
#include "tools/conformance/build.hpp"

namespace muster::testing {
namespace {

namespace mk = muster::kokkos;

/// Elements as the host finds them, in an order.
template <class V, class F>
void look(const V& view, bool left, F visit) {
  using element = typename V::non_const_value_type;
  if (view.size() == 0) return;
  auto* const at = reinterpret_cast<element*>(device_pages::all().seen_by_host(view.data()));
  for_each_place(view, left, [&](std::size_t i, std::size_t place) { visit(i, at[place]); });
}
template <class V, class F>
void fill(const V& view, bool left, F value) {
  look(view, left, [&](std::size_t i, auto& each) { each = value(i); });
}
template <class V, class F>
void expect(const V& view, bool left, F value, const char* what) {
  look(view, left, [&](std::size_t i, const auto& each) { require(each == value(i), what); });
}

template <class L>
using matrix = Kokkos::View<double**, L, device_memory>;
/// A part with gaps.
template <class L>
auto part_of(std::size_t n, std::size_t m) {
  const matrix<L> all("all", n + 3, m + 2);
  return Kokkos::subview(all, std::pair<std::size_t, std::size_t>(2, n + 2),
                         std::pair<std::size_t, std::size_t>(1, m + 1));
}

/// All that a call's place and size can be: of one segment or several.
template <class V, class M>
task<> every_collective(team& on, std::size_t each, std::size_t fast, M make) {
  constexpr bool left = std::is_same_v<V, Kokkos::LayoutLeft>;
  const std::size_t me = on.rank();
  const std::size_t p = on.size();
  const std::size_t root = p - 1;
  const std::size_t block = each * fast;
  const auto blocks = [&](std::size_t count) {
    return left ? make(fast, count * each) : make(count * each, fast);
  };
  const auto all = blocks(p);
  const auto received = blocks(p);
  const auto one = blocks(1);
  const auto other = blocks(1);
  const auto mine = [&](std::size_t i) { return value_at(me, i); };
  const auto old = [](std::size_t) { return -1.0; };
  const auto of_blocks = [&](std::size_t i) { return value_at(i / block, i % block); };
  const auto to_me = [&](std::size_t i) { return value_at(i / block, me * block + i % block); };

  fill(one, left, mine);
  co_await mk::allreduce(on, one, other, sum);
  expect(other, left, [&](std::size_t i) { return sum_at(p, i); }, "allreduce");
  co_await mk::scan(on, one, sum);
  expect(one, left, [&](std::size_t i) { return sum_at(me + 1, i); }, "scan in place");
  fill(one, left, mine);
  fill(other, left, old);
  co_await mk::exscan(on, one, other, sum);
  if (me == 0) expect(other, left, old, "exscan: rank 0");
  if (me != 0) expect(other, left, [&](std::size_t i) { return sum_at(me, i); }, "exscan");
  fill(other, left, old);
  co_await mk::reduce(on, one, other, sum, root);
  if (me == root) expect(other, left, [&](std::size_t i) { return sum_at(p, i); }, "reduce");
  if (me != root) expect(other, left, old, "reduce: elsewhere");

  fill(all, left, mine);
  co_await mk::alltoall(on, all, received);
  expect(received, left, to_me, "alltoall");
  fill(received, left, mine);
  co_await mk::alltoall(on, received);
  expect(received, left, to_me, "alltoall in place");
  co_await mk::allgather(on, one, received);
  expect(received, left, of_blocks, "allgather");
  fill(received, left, [&](std::size_t i) { return i / block == me ? of_blocks(i) : -1; });
  co_await mk::allgather(on, received);
  expect(received, left, of_blocks, "allgather in place");
  fill(received, left, old);
  co_await mk::gather(on, one, received, root);
  if (me == root) expect(received, left, of_blocks, "gather");
  if (me != root) expect(received, left, old, "gather: elsewhere");
  fill(all, left, of_blocks);
  co_await mk::scatter(on, all, other, root);
  expect(other, left, mine, "scatter");
  if (me == root) {
    fill(received, left, [&](std::size_t i) { return i / block == me ? of_blocks(i) : -1; });
    co_await mk::gather(on, received, root);
    expect(received, left, of_blocks, "gather in place");
    co_await mk::scatter(on, all, root);
  } else {
    co_await mk::gather(on, one, root);
    fill(other, left, old);
    co_await mk::scatter(on, other, root);
    expect(other, left, mine, "scatter in place");
  }
  fill(all, left, mine);
  co_await mk::reduce_scatter_block(on, all, other, sum);
  const auto my_part = [&](std::size_t i) { return sum_at(p, me * block + i); };
  expect(other, left, my_part, "reduce_scatter_block");
  co_await mk::reduce_scatter_block(on, all, sum);
  look(all, left, [&](std::size_t i, double has) {
    require(i >= block || has == my_part(i), "reduce_scatter_block in place");
  });
  fill(one, left, [&](std::size_t i) { return me == root ? value_at(3, i) : -1; });
  co_await mk::bcast(on, one, root);
  expect(one, left, [&](std::size_t i) { return value_at(3, i); }, "bcast");

  const std::vector<std::size_t> counts(p, block);
  std::vector<std::size_t> backwards(p);
  for (std::size_t r = 0; r < p; ++r) backwards[r] = (p - 1 - r) * block;
  const block_layout reversed{.counts = counts, .displacements = backwards};
  fill(one, left, mine);
  co_await mk::allgatherv(on, one, received, reversed);
  expect(
      received, left, [&](std::size_t i) { return value_at(p - 1 - i / block, i % block); },
      "allgatherv");
  const cartesian ring(on, {p}, {true});
  const auto before = (me + p - 1) % p;
  const auto two = blocks(2);
  const neighborhood with = ring;
  co_await mk::neighbor_allgather(on, one, two, with);
  look(two, left, [&](std::size_t i, double has) {
    require(i >= block || has == value_at(before, i), "neighbor_allgather");
  });
}

TEST_CASE("nothing is touched that the host cannot access") {
  for (const std::size_t ranks : {1, 2, 3, 5}) {
    on_ranks(ranks, [](team& on) -> task<> {
      using Kokkos::LayoutLeft;
      using Kokkos::LayoutRight;
      const auto right = [](std::size_t n, std::size_t m) {
        return matrix<LayoutRight>("right", n, m);
      };
      const auto left = [](std::size_t n, std::size_t m) {
        return matrix<LayoutLeft>("left", n, m);
      };
      co_await every_collective<LayoutRight>(on, 3, 4, right);
      co_await every_collective<LayoutLeft>(on, 3, 4, left);
      co_await every_collective<LayoutRight>(on, 2, 5, part_of<LayoutRight>);
      co_await every_collective<LayoutLeft>(on, 2, 5, part_of<LayoutLeft>);
      co_await every_collective<LayoutRight>(on, 2, 0, right);
    });
  }
}

TEST_CASE("a View is cut into segments of 1 MiB, and into 32 at most") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const auto segments = [](std::size_t bytes) {
    return mk::detail::segments_of(mk::detail::vector_of(bytes), 1);
  };
  CHECK(segments(1) == 1);
  CHECK(segments(2 * mebibyte - 1) == 1);
  CHECK(segments(2 * mebibyte) == 2);
  CHECK(segments(31 * mebibyte) == 31);
  CHECK(segments(32 * mebibyte) == 32);
  CHECK(segments(1000 * mebibyte) == 32);
}

TEST_CASE("long Views are cut") {
  CHECK(mk::detail::segments_of(mk::detail::vector_of(600'001), 8) == 4);
  constexpr std::size_t all[] = {2, 3};
  for (const std::size_t ranks : std::span(all).first(sanitized ? 1 : 2)) {
    on_ranks(ranks, [](team& on) -> task<> {
      using Kokkos::LayoutLeft;
      using Kokkos::LayoutRight;
      const auto right = [](std::size_t n, std::size_t m) {
        return matrix<LayoutRight>("right", n, m);
      };
      co_await every_collective<LayoutRight>(on, 751, 799, right);
      co_await every_collective<LayoutLeft>(on, 751, 799, part_of<LayoutLeft>);
    });
  }
}

TEST_CASE("segments of calls in flight keep the team's order") {
  on_ranks(4, [](team& on) -> task<> {
    using vector = Kokkos::View<double*, device_memory>;
    std::vector<vector> data;
    std::vector<future<>> calls;
    const Kokkos::View<double*, Kokkos::HostSpace> host("host", 50);
    for (int i = 0; i < 6; ++i) {
      const std::size_t count = i % 2 == 0 ? 500'000 + on.size() : 10;
      data.emplace_back("data", count);
      fill(data.back(), true, [&](std::size_t e) { return value_at(on.rank(), e); });
      calls.push_back(start(mk::allreduce(on, data.back(), sum)));
      // Some ranks come to the next segment before they come to the next call.
      for (int k = 0; k < 500 && on.rank() % 2 == 1 && !calls.back().ready(); ++k) {
        std::this_thread::yield();
      }
      calls.push_back(start(mk::bcast(on, host, 2)));
    }
    // The last ones first: nobody waits in the order of the calls.
    for (std::size_t i = calls.size(); i-- > 0;) co_await calls[i];
    for (const vector& each : data) {
      expect(each, true, [&](std::size_t e) { return sum_at(on.size(), e); }, "in flight");
    }
  });
}

TEST_CASE("an instance's work comes first, and its next work after") {
  on_ranks(3, [](team& on) -> task<> {
    const device instance(std::make_shared<device_queue>());
    const std::size_t count = 200'000;
    const Kokkos::View<double*, device_memory> data("data", count);
    const Kokkos::View<double*, device_memory> twice("twice", count);
    // Kokkos 3.4 takes the device's kernels for the host's, and would refuse them `data(i)`.
    double* const written = data.data();
    double* const doubled = twice.data();
    using policy = Kokkos::RangePolicy<device>;
    const auto me = static_cast<double>(on.rank());
    device().fence();
    Kokkos::parallel_for(
        "fill", policy(instance, 0, count), KOKKOS_LAMBDA(std::size_t i) { written[i] = me + 1; });
    auto call = start(mk::allreduce(instance, on, data, sum));
    co_await call;
    Kokkos::parallel_for(
        "use", policy(instance, 0, count),
        KOKKOS_LAMBDA(std::size_t i) { doubled[i] = 2 * written[i]; });
    instance.fence();
    expect(twice, true, [](std::size_t) { return 12.0; }, "with an instance");
  });
}

TEST_CASE("from memory of the device into the host's, and back") {
  on_ranks(3, [](team& on) -> task<> {
    const std::size_t count = 300'000;
    const Kokkos::View<double*, device_memory> there("there", count);
    const Kokkos::View<double*, Kokkos::HostSpace> here("here", count);
    fill(there, true, [&](std::size_t i) { return value_at(on.rank(), i); });
    co_await mk::allreduce(on, there, here, sum);
    require(here(count - 1) == sum_at(3, count - 1), "into the host's");
    co_await mk::allreduce(on, here, there, max);
    expect(there, true, [&](std::size_t i) { return sum_at(3, i); }, "back");
  });
}

TEST_CASE("reducers whose result is in the device's memory") {
  on_ranks(3, [](team& on) -> task<> {
    const Kokkos::View<double, device_memory> result("result");
    fill(result, true, [&](std::size_t) { return static_cast<double>(on.rank()); });
    co_await mk::allreduce(on, Kokkos::Max<double, device_memory>(result));
    expect(result, true, [](std::size_t) { return 2.0; }, "Max");
  });
}

TEST_CASE("wrong sizes are named as the caller gave them") {
  std::string text;
  on_ranks(2, [&](team& on) -> task<> {
    const Kokkos::View<double*, device_memory> a("a", 400'000);
    const Kokkos::View<double*, device_memory> b("b", 300'000);
    try {
      co_await mk::alltoall(on, a, b);
    } catch (const error& why) {
      if (on.rank() == 0) text = why.what();
    }
    co_await muster::barrier(on);
  });
  CHECK(says(text, "alltoall: receive has 300000 elements; expected 400000, as many as in send"));
}

TEST_CASE("the device's memory is what it says") {
  // A process of its own touches an element.
  const Kokkos::View<double*, device_memory> data("data", 4);
  device().fence();
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    *static_cast<volatile double*>(data.data()) = 1;
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((!WIFEXITED(status) || WEXITSTATUS(status) != 0));
}

}  // namespace
}  // namespace muster::testing
