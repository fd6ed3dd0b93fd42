#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <muster/run/flight_recorder.hpp>

#include "tools/library/why/look.hpp"

namespace muster::testing {
namespace {

flight_recorder::rank_identity somebody() {
  return {.process = 1, .rank = 0, .ranks = 1, .clock_ns = why::time_of_day(), .host = "here"};
}

wire::recorded_call call_number(std::uint64_t sequence) {
  return {.word = sequence << 32 | 5, .kind = sequence, .count = sequence, .root = sequence};
}

why::seen_rank seen(const flight_record& in) { return *why::look_at({in, false}); }

TEST_CASE("flight recorder: a call that ends at once has ended when it has begun") {
  const auto memory = std::make_unique<flight_record>();
  CHECK_FALSE(why::look_at({*memory, false}).has_value());
  flight_recorder recorder(*memory, somebody());
  recorder.begin(call_number(1), 9);
  const why::seen_rank one = seen(*memory);
  REQUIRE(one.calls.size() == 1);
  CHECK(one.calls[0].team == 9);
  CHECK(one.calls[0].sequence == 1);
  CHECK(one.calls[0].kind == 1);
  CHECK(one.calls[0].is == why::seen_call::state::ended);
  CHECK(one.calls[0].begun_ns == 0);
  CHECK(one.calls[0].ended_ns == 0);
}

TEST_CASE("flight recorder: a call that looks on for a moment has its time taken, and has ended") {
  const auto memory = std::make_unique<flight_record>();
  flight_recorder recorder(*memory, somebody());
  flight_recorder::look_on(recorder.begin(call_number(1), 0));
  const why::seen_rank one = seen(*memory);
  CHECK(one.calls[0].is == why::seen_call::state::ended);
  CHECK(one.calls[0].begun_ns >= one.started_ns);
  CHECK(one.calls[0].ended_ns == one.calls[0].begun_ns);
}

TEST_CASE("flight recorder: a call fails that has waited for nothing") {
  const auto memory = std::make_unique<flight_record>();
  flight_recorder recorder(*memory, somebody());
  flight_recorder::end(recorder.begin(call_number(1), 0), true);
  CHECK(seen(*memory).calls[0].is == why::seen_call::state::failed);
}

TEST_CASE("flight recorder: a call that lasts is under way, waits and ends") {
  const auto memory = std::make_unique<flight_record>();
  flight_recorder recorder(*memory, somebody());
  flight_entry& call = recorder.begin(call_number(1), 0);
  flight_recorder::last(call);
  CHECK(seen(*memory).calls[0].is == why::seen_call::state::under_way);
  CHECK(seen(*memory).calls[0].awaited == 0);
  flight_recorder::wait(call, 7, 3);
  CHECK(seen(*memory).calls[0].awaited == 3);
  CHECK(seen(*memory).calls[0].first_awaited == 7);
  SUBCASE("well") {
    flight_recorder::end(call, false);
    CHECK(seen(*memory).calls[0].is == why::seen_call::state::ended);
    CHECK(seen(*memory).calls[0].ended_ns >= seen(*memory).calls[0].begun_ns);
  }
  SUBCASE("badly") {
    flight_recorder::end(call, true);
    CHECK(seen(*memory).calls[0].is == why::seen_call::state::failed);
  }
  SUBCASE("at once, after all") {
    flight_recorder::last_no_more(call);
    CHECK(seen(*memory).calls[0].is == why::seen_call::state::ended);
  }
}

TEST_CASE("flight recorder: the last 256 calls are kept, in their order") {
  const auto memory = std::make_unique<flight_record>();
  flight_recorder recorder(*memory, somebody());
  for (std::uint64_t i = 1; i <= 300; ++i) {
    flight_entry& call = recorder.begin(call_number(i), 0);
    if (i < 200) flight_recorder::last(call);  // what is left of it means nothing to the next one
  }
  const std::vector<why::seen_call> calls = seen(*memory).calls;
  REQUIRE(calls.size() == 256);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CHECK(calls[i].sequence == 45 + i);
    CHECK((calls[i].is == why::seen_call::state::under_way) == (calls[i].sequence < 200));
  }
}

TEST_CASE("flight recorder: the job's team stays on record, and the last of the others") {
  const auto memory = std::make_unique<flight_record>();
  {
    flight_recorder recorder(*memory, somebody());
    for (std::uint64_t i = 0; i < 200; ++i) {
      recorder.add({.id = i, .parent = 0, .turn = i, .ranks = i + 1, .rank = i});
    }
  }
  const why::seen_rank one = seen(*memory);
  CHECK(one.has_left);
  REQUIRE(one.teams.size() == flight_record::most_teams);
  std::vector<bool> there(200);
  for (const why::seen_team& each : one.teams) there[each.id] = true;
  CHECK(there[0]);
  for (std::size_t i = 200 - flight_record::most_teams + 1; i < 200; ++i) CHECK(there[i]);
}

TEST_CASE("flight recorder: whoever looks meanwhile sees whole calls") {
  const auto memory = std::make_unique<flight_record>();
  flight_recorder recorder(*memory, somebody());
  std::atomic<bool> over{false};
  std::jthread writer([&] {
    for (std::uint64_t i = 1; !over; ++i) {
      flight_entry& call = recorder.begin(call_number(i), i);
      flight_recorder::last(call);
      flight_recorder::wait(call, i, 1);
      flight_recorder::end(call, false);
    }
  });
  for (int look = 0; look < 200; ++look) {
    for (const why::seen_call& each : seen(*memory).calls) {
      const bool is_whole =
          each.kind == each.sequence && each.count == each.sequence && each.team == each.sequence;
      CHECK(is_whole);
    }
  }
  over = true;
}

}  // namespace
}  // namespace muster::testing
