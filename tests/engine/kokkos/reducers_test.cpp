// What combines: Kokkos's reducers as objects and as types, with results of their own, a program's
// own reducers, and functions.

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

#include "tests/engine/kokkos/ranks.hpp"

namespace muster::testing {
namespace {

namespace mk = muster::kokkos;

/// Ranks 0 to 2 contribute 3, 5, 4 in each element, plus the element's number.
template <class T>
Kokkos::View<T*> contribution(const team& on) {
  const Kokkos::View<T*> data("data", 5);
  constexpr T of[] = {3, 5, 4};
  for (std::size_t i = 0; i < 5; ++i) data(i) = static_cast<T>(of[on.rank()] + static_cast<T>(i));
  return data;
}

template <class T, class Op>
task<> expect(team& on, Op op, T first, T last, const char* what) {
  const Kokkos::View<T*> result("result", 5);
  co_await mk::allreduce(on, contribution<T>(on), result, op);
  require(result(0) == first && result(4) == last, what);
}

template <class T>
task<> numbers(team& on) {
  T unused{};
  co_await expect<T>(on, Kokkos::Sum<T>(unused), 12, 24, "Sum");
  co_await expect<T>(on, Kokkos::Prod<T>(unused), 60, T{7 * 9} * T{8}, "Prod");
  co_await expect<T>(on, Kokkos::Min<T>(unused), 3, 7, "Min");
  co_await expect<T>(on, Kokkos::Max<T>(unused), 5, 9, "Max");
  co_await expect<T>(on, mk::reducer<Kokkos::Sum<T>>, 12, 24, "Sum by type");
  co_await expect<T>(on, mk::reducer<Kokkos::Max<T>>, 5, 9, "Max by type");
}

TEST_CASE("Kokkos's reducers of numbers") {
  on_ranks(3, [](team& on) -> task<> {
    co_await numbers<double>(on);
    co_await numbers<float>(on);
    co_await numbers<int>(on);
    co_await numbers<std::int64_t>(on);
    co_await numbers<long double>(on);  // no number of Muster's
    int unused{};
    co_await expect<int>(on, Kokkos::LAnd<int>(unused), 1, 1, "LAnd");
    co_await expect<int>(on, Kokkos::LOr<int>(unused), 1, 1, "LOr");
    co_await expect<int>(on, Kokkos::BAnd<int>(unused), 3 & 5 & 4, 7 & 9 & 8, "BAnd");
    co_await expect<int>(on, Kokkos::BOr<int>(unused), 3 | 5 | 4, 7 | 9 | 8, "BOr");
  });
}

TEST_CASE("logical reducers, where not all ranks agree") {
  on_ranks(3, [](team& on) -> task<> {
    int all = on.rank() == 1 ? 0 : 7;
    int any = on.rank() == 1 ? 4 : 0;
    int none = 0;
    co_await mk::allreduce(on, Kokkos::LAnd<int>(all));
    co_await mk::allreduce(on, Kokkos::LOr<int>(any));
    co_await mk::allreduce(on, Kokkos::LOr<int>(none));
    require(all == 0 && any == 1 && none == 0, "logical");
    bool flag = on.rank() == 2;
    co_await mk::allreduce(on, Kokkos::LOr<bool>(flag));
    require(flag, "of bool");
  });
}

TEST_CASE("values with their places") {
  on_ranks(3, [](team& on) -> task<> {
    const auto me = static_cast<int>(on.rank());
    using least = Kokkos::MinLoc<double, int>;
    using most = Kokkos::MaxLoc<double, int>;
    const Kokkos::View<least::value_type*> places("places", 4);
    for (int i = 0; i < 4; ++i) {
      places(i).val = static_cast<double>((me + i) % 3);
      places(i).loc = 10 * me + i;
    }
    const Kokkos::View<least::value_type*> found("found", 4);
    co_await mk::allreduce(on, places, found, mk::reducer<least>);
    require(found(0).val == 0 && found(0).loc == 0, "MinLoc of rank 0");
    require(found(1).val == 0 && found(1).loc == 21, "MinLoc of rank 2");
    co_await mk::allreduce(on, places, found, mk::reducer<most>);
    require(found(0).val == 2 && found(0).loc == 20, "MaxLoc");

    using both = Kokkos::MinMax<double>;
    both::value_type range;
    range.min_val = me;
    range.max_val = me + 10;
    co_await mk::allreduce(on, both(range));
    require(range.min_val == 0 && range.max_val == 12, "MinMax");

    using both_places = Kokkos::MinMaxLoc<double, std::int64_t>;
    both_places::value_type where;
    where.min_val = -me;
    where.max_val = me;
    where.min_loc = 5 + me;
    where.max_loc = 50 + me;
    co_await mk::allreduce(on, both_places(where));
    require(where.min_val == -2 && where.min_loc == 7 && where.max_loc == 52, "MinMaxLoc");
  });
}

TEST_CASE("the result that a reducer refers to, after a parallel_reduce") {
  on_ranks(4, [](team& on) -> task<> {
    const Kokkos::View<double*, Kokkos::HostSpace> data("data", 100);
    Kokkos::deep_copy(data, static_cast<double>(on.rank()));
    double value = 0;
    const Kokkos::Sum<double> total(value);
    using policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>;
    {
      // Of the threads of a process one at a time: a space may have one memory for all of them.
      static std::mutex alone;
      const std::scoped_lock lock(alone);
      Kokkos::parallel_reduce(
          "sum", policy(0, 100), KOKKOS_LAMBDA(int i, double& to) { to += data(i); }, total);
    }
    co_await mk::allreduce(on, total);
    require(value == 600, "allreduce of a reducer");
    const Kokkos::View<double, Kokkos::HostSpace> result("result");
    result() = static_cast<double>(on.rank());
    co_await mk::reduce(on, Kokkos::Max<double, Kokkos::HostSpace>(result), 2);
    require(result() == (on.rank() == 2 ? 3 : static_cast<double>(on.rank())), "reduce");
    double before = 1;
    co_await mk::exscan(on, Kokkos::Sum<double>(before));
    require(before == (on.rank() == 0 ? 1 : static_cast<double>(on.rank())), "exscan");
    double upto = 2;
    co_await mk::scan(on, Kokkos::Prod<double>(upto));
    require(upto == static_cast<double>(2U << on.rank()), "scan");
  });
}

struct range {
  int low;
  int high;
};

/// As Kokkos wants a reducer, and with a state.
class widest {
public:
  using reducer = widest;
  using value_type = range;
  using result_view_type = Kokkos::View<range, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  explicit widest(range& result, int limit = 1000) : result_(&result), limit_(limit) {}
  void join(range& to, const range& from) const {
    to.low = from.low < to.low ? from.low : to.low;
    to.high = from.high > to.high ? from.high : to.high;
    if (to.high > limit_) to.high = limit_;
  }
  void init(range& value) const { value = {0, 0}; }
  range& reference() const { return *result_.data(); }
  result_view_type view() const { return result_; }

private:
  result_view_type result_;
  int limit_;
};

/// A reducer for Kokkos before 4.
class old_sum {
public:
  using reducer = old_sum;
  using value_type = std::int64_t;
  using result_view_type = Kokkos::View<value_type, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  explicit old_sum(value_type& result) : result_(&result) {}
  void join(volatile value_type& to, const volatile value_type& from) const { to = to + from; }
  result_view_type view() const { return result_; }

private:
  result_view_type result_;
};

/// No reducer, but joins.
struct matrix_join {
  void join(range& to, const range& from) const {
    to.low += from.low;
    to.high -= from.high;
  }
};

TEST_CASE("a program's own reducers and functions") {
  on_ranks(4, [](team& on) -> task<> {
    const auto me = static_cast<int>(on.rank());
    range value = {-me, 3 * me};
    co_await mk::allreduce(on, widest(value));
    require(value.low == -3 && value.high == 9, "a reducer");
    value = {-me, 3 * me};
    co_await mk::allreduce(on, widest(value, 5));
    require(value.low == -3 && value.high == 5, "a reducer with a state");
    std::int64_t old = me;
    co_await mk::allreduce(on, old_sum(old));
    require(old == 6, "a volatile join");

    // In rank order: (low, high) is the map x -> low * x + high.
    const Kokkos::View<range**, Kokkos::LayoutLeft> maps("maps", 2, 3);
    const Kokkos::View<range**, Kokkos::LayoutRight> composed("composed", 2, 3);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) maps(i, j) = {me + 1, i + 10 * j + me};
    }
    const auto compose = [](const range& first, const range& then) {
      return range{first.low * then.low, first.high * then.low + then.high};
    };
    co_await mk::scan(on, maps, composed, compose);
    range expected = {1, 0};
    for (int r = 0; r <= me; ++r) expected = compose(expected, {r + 1, 1 + 10 * 2 + r});
    require(composed(1, 2).low == expected.low && composed(1, 2).high == expected.high,
            "a function in rank order");
    const Kokkos::View<range*> ranges("ranges", 3);
    Kokkos::deep_copy(ranges, range{1, 1});
    const matrix_join joined;
    co_await mk::allreduce(on, ranges, joined);
    require(ranges(2).low == 4, "an object that joins");
    const auto made = make_reduction<range>(compose);
    co_await mk::scan(on, maps, composed, made);
    require(composed(1, 2).low == expected.low && composed(1, 2).high == expected.high,
            "a reduction of Muster's");
    const Kokkos::View<int*> counts("counts", 3);
    Kokkos::deep_copy(counts, me);
    const reducer any_order = in_arrival_order(sum);
    co_await mk::allreduce(on, counts, any_order);
    require(counts(2) == 6, "in the order of arrival");
  });
}

}  // namespace
}  // namespace muster::testing
