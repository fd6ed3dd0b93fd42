// Algorithms that do what their rows do not allow: told so, by name, before anything is harmed.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/api/collectives.hpp>
#include <muster/base/error.hpp>
#include <muster/coro/when_all.hpp>
#include <muster/run/context.hpp>
#include <muster/run/pipeline.hpp>

#include "tests/support/says.hpp"
#include "tests/transports/sim/run.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using coroutine = task<> (*)(context&, const arguments&);

std::array<std::byte, 20000> bytes{};
std::array<std::byte, 20000> incoming_block{};
std::span<const std::byte> first(std::size_t count) { return std::span(bytes).first(count); }

template <stage_kind Declared>
algorithm row_of(coroutine run) {
  return {
      .id = "wrong",
      .what = collective::barrier,
      .summary = "",
      .source = "",
      .suits = [](const shape&, const machine&, const arguments&) { return true; },
      .stages = [](const shape&, const machine&, const arguments&) { return Declared; },
      .run = run,
  };
}

/// What the first rank's calls end with: one that found at its end what was wrong breaks its team.
std::string end_of(const algorithm& row) {
  const watchdog alive("an algorithm that is wrong");
  const std::vector<algorithm> rows = {row};
  sim::simulation all(sim::model(), rows, {.node_of = {0, 0}, .one_process = true});
  all.run([](sim::rank& me) -> task<> {
    co_await barrier(me.team());
    co_await barrier(me.team());
  });
  const auto found = failures(all);
  return found.front() ? std::string(found.front()->what()) : "";
}

task<> publish_100(context& me, const arguments&) {
  me.publish(first(100));
  co_return;
}
task<> publish_9000(context& me, const arguments&) {
  me.publish(first(9000));
  co_return;
}
task<> arrive_twice(context& me, const arguments&) {
  me.arrive();
  me.publish(first(8));
  co_return;
}
task<> never_arrive(context&, const arguments&) { co_return; }
task<> have_pipeline(context& me, const arguments&) {
  me.arrive();
  const pipeline own(me, 0, segments(100, 1));
  co_return;
}
task<> have_third_pipeline(context& me, const arguments&) {
  me.arrive();
  const pipeline own(me, wire::pipelines, segments(100, 1));
  co_return;
}
template <bool Waits>
task<> lend(context& me, const arguments&) {
  me.arrive();
  pipeline own(me, 0, segments(20000, 1));
  if (me.rank() == 0) {
    if (!own.lend(first(20000), pipeline::lending::for_copies))
      throw error(errc::resource, "not lent");
    if (Waits) co_await own.returned();
    co_return;
  }
  co_await own.arrived(0, 0);
  co_await own.copy(0, 0, 0, incoming_block);
  own.take(0);
}
task<> send_to_nobody(context& me, const arguments&) {
  me.arrive();
  co_await me.send(me.size() + 5, first(8));
}
task<> receive_from_nobody(context& me, const arguments&) {
  me.arrive();
  co_await me.expect(me.size(), std::span(bytes).first(8));
}
task<> send_long_note(context& me, const arguments&) {
  me.arrive();
  co_await me.send_note(1 - me.rank(), first(context::most_note + 1));
}
task<> just_arrive(context& me, const arguments&) {
  me.arrive();
  co_return;
}
task<> count_in(context& me, const arguments&) {
  me.arrive();
  co_await me.count_in();
}

TEST_CASE("a row that declares too little, or does what none may, is told what to do") {
  using enum stage_kind;
  struct wrong {
    algorithm row;
    std::string_view why;
  };
  const std::vector<wrong> all = {
      {row_of<none>(publish_100),
       "barrier: the row 'wrong', which declares the stages none, publishes 100 bytes; expected "
       "one_way or exchanged for more than 48"},
      {row_of<lengthy>(publish_100), "publishes 100 bytes; expected one_way or exchanged"},
      {row_of<exchanged>(publish_9000), "publishes 9000 bytes; expected at most 8192, and a"},
      {row_of<none>(arrive_twice), "arrives again; expected each rank to arrive exactly once"},
      {row_of<none>(never_arrive), "ends without an arrival; expected each rank to arrive"},
      {row_of<exchanged>(have_pipeline), "has a pipeline; expected lengthy or very_long"},
      {row_of<lengthy>(have_third_pipeline), "has pipeline 2; expected one below 2"},
      {row_of<lengthy>(lend<false>), "ends while it lends memory; expected to await that it is"},
      {row_of<none>(send_to_nobody), "sends to rank 7; expected one below 2"},
      {row_of<none>(receive_from_nobody), "invites rank 2; expected one below 2"},
      {row_of<none>(send_long_note), "sends a note of 49 bytes; expected at most 48"},
      {row_of<apart>(just_arrive), "arrives; expected messages alone, or none"},
      {row_of<apart>(count_in), "arrives; expected messages alone"},
  };
  for (const wrong& one : all) {
    const std::string text = end_of(one.row);
    INFO(text);
    CHECK(says(text, one.why));
  }
}

TEST_CASE("what is right is not refused") {
  using enum stage_kind;
  CHECK(end_of(row_of<none>(just_arrive)).empty());
  CHECK(end_of(row_of<none>(count_in)).empty());
  CHECK(end_of(row_of<one_way>(publish_100)).empty());
  CHECK(end_of(row_of<exchanged>(publish_100)).empty());
  CHECK(end_of(row_of<apart>(never_arrive)).empty());
  CHECK(end_of(row_of<lengthy>(lend<true>)).empty());
}

std::array<std::byte, 100000> outgoing{};
std::array<std::byte, 100000> incoming{};

/// Hears that rank 1 has invited the message, and changes it.
task<> change_when_invited(context& me) {
  std::byte note{};
  co_await me.receive_note(1, std::span(&note, 1));
  outgoing[50000] = std::byte{1};
}

/// Rank 0 sends a long message, and changes it on its way, or afterwards.
template <bool Early>
task<> send_and_change(context& me, const arguments&) {
  me.arrive();
  if (me.rank() == 1) {
    co_await me.invite(0, incoming);
    co_await me.send_note(0, first(1));
    co_return co_await me.receive(0, incoming);
  }
  outgoing[50000] = std::byte{0};
  auto sent = me.send(1, outgoing);
  if (Early) {
    auto changed = change_when_invited(me);
    co_await when_all(std::move(sent), std::move(changed));
  } else {
    co_await std::move(sent);
    co_await change_when_invited(me);
  }
}

std::string race_in(const algorithm& row, std::vector<std::size_t> node_of = {0, 1}) {
  const std::vector<algorithm> rows = {row};
  sim::simulation all(sim::model(), rows, {.node_of = std::move(node_of), .watch_reads = true});
  try {
    all.run([](sim::rank& me) -> task<> { co_await barrier(me.team()); });
    for (const auto& each : failures(all)) {
      if (each) return each->what();
    }
  } catch (const sim::premature_access& why) {
    return why.what();
  }
  return "";
}

TEST_CASE("a message that its sender changes before it has left is found") {
  const std::string text = race_in(row_of<stage_kind::none>(send_and_change<true>));
  INFO(text);
  CHECK(says(text, "rank 0 changes, in barrier, what it sends to rank 1 before it has left"));
  CHECK(race_in(row_of<stage_kind::none>(send_and_change<false>)).empty());
}

/// Rank 0 shares a segment. Rank 1 reads it after it has looked whether that is there, or after it
/// has heard from rank 2, of another node, by when it is there, too.
template <bool Looks>
task<> read_segment(context& me, const arguments&) {
  constexpr std::size_t bytes_shared = 100;
  me.arrive();
  if (me.rank() == 2) co_return co_await me.send(1, outgoing);
  pipeline own(me, 0, segments(bytes_shared, 1));
  if (me.rank() == 0) {
    std::byte* const slot = co_await own.slot(0);
    co_await me.stage({slot, bytes_shared}, first(bytes_shared));
    co_return own.post(0);
  }
  co_await me.invite(2, incoming);
  co_await me.receive(2, incoming);
  if (Looks) co_await own.arrived(0, 0);
  co_await own.copy(0, 0, 0, std::span(incoming).first(bytes_shared));
}

TEST_CASE("a segment that is read without a look at its announcement is found") {
  const std::string text = race_in(row_of<stage_kind::lengthy>(read_segment<false>), {0, 0, 1});
  INFO(text);
  CHECK(says(text, "rank 1 reads, in barrier, what rank 0 has not announced"));
  CHECK(race_in(row_of<stage_kind::lengthy>(read_segment<true>), {0, 0, 1}).empty());
}

}  // namespace
}  // namespace muster::testing
