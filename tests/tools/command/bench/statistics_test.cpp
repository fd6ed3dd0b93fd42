#include "tools/report/statistics.hpp"

#include <doctest/doctest.h>

namespace muster::bench {
namespace {

using values = std::vector<double>;

TEST_CASE("statistics: percentiles interpolate") {
  CHECK(percentile(values{}, 0.5) == 0);
  CHECK(percentile(values{3}, 0.1) == 3);
  CHECK(percentile(values{1, 2}, 0.5) == doctest::Approx(1.5));
  CHECK(percentile(values{5, 1, 3, 2, 4}, 0) == 1);
  CHECK(percentile(values{5, 1, 3, 2, 4}, 1) == 5);
  CHECK(percentile(values{5, 1, 3, 2, 4}, 0.1) == doctest::Approx(1.4));
  CHECK(median(values{9, 1, 5}) == 5);
}

TEST_CASE("statistics: the geometric mean") {
  CHECK_FALSE(geometric_mean(values{}).has_value());
  CHECK(*geometric_mean(values{2, 8}) == doctest::Approx(4));
  CHECK(*geometric_mean(values{0.5, 2}) == doctest::Approx(1));
}

TEST_CASE("statistics: probes agree within a quarter") {
  CHECK(same_trip(50, 50));
  CHECK(same_trip(50, 60));
  CHECK_FALSE(same_trip(50, 70));
  CHECK_FALSE(same_trip(14, 210));
  CHECK(same_trip(0, 0));
  CHECK_FALSE(same_trip(0, 14));
}

TEST_CASE("statistics: states are told apart by their trips") {
  machine_states states;
  const std::size_t threads = states.index_of(14);
  const std::size_t cores = states.index_of(50);
  const std::size_t far = states.index_of(210);
  CHECK(states.count() == 3);
  CHECK(states.index_of(15) == threads);
  CHECK(states.index_of(46) == cores);
  CHECK(states.index_of(200) == far);
  CHECK(states.count() == 3);
}

TEST_CASE("statistics: a trip between two states counts to the nearer one") {
  machine_states states;
  const std::size_t near = states.index_of(40);
  const std::size_t far = states.index_of(52);
  CHECK(near != far);
  CHECK(states.index_of(44) == near);
  CHECK(states.index_of(48) == far);
}

TEST_CASE("statistics: without a probe there is one state") {
  machine_states states;
  CHECK(states.index_of(0) == 0);
  CHECK(states.index_of(0) == 0);
  CHECK(states.count() == 1);
}

std::vector<sample> samples_in(std::vector<std::size_t> states) {
  std::vector<sample> samples;
  for (const std::size_t state : states) samples.push_back({1.0, 50, state});
  return samples;
}

TEST_CASE("statistics: the state with the most complete sets is used") {
  const std::vector<std::vector<sample>> by_library{samples_in({0, 0, 0, 1, 1}),
                                                    samples_in({0, 1, 1, 1, 2})};
  const state_choice chosen = fullest_state(by_library);
  CHECK(chosen.state == 1);
  CHECK(chosen.complete_sets == 2);
}

TEST_CASE("statistics: a library without samples does not stand in the way") {
  const std::vector<std::vector<sample>> by_library{samples_in({0, 0}), {}, samples_in({0, 1, 0})};
  CHECK(fullest_state(by_library).complete_sets == 2);
}

TEST_CASE("statistics: libraries that never shared a state have no complete set") {
  const std::vector<std::vector<sample>> by_library{samples_in({0, 0}), samples_in({1})};
  CHECK(fullest_state(by_library).complete_sets == 0);
  CHECK(fullest_state({}).complete_sets == 0);
}

TEST_CASE("statistics: the samples of one state") {
  const auto samples = samples_in({0, 1, 0});
  CHECK(in_state(samples, 0).size() == 2);
  CHECK(in_state(samples, 1).size() == 1);
  CHECK(in_state(samples, 2).empty());
}

}  // namespace
}  // namespace muster::bench
