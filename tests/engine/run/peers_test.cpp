// What algorithms hear of ranks of any node: messages, invitations, in the order in which they
// come; and the memory in which they stage.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

bool always(const shape&, const machine&, const arguments&) { return true; }
stage_kind pipelines_only(const shape&, const machine&, const arguments&) {
  return stage_kind::lengthy;
}

/// How many ranks rank 0 has heard of.
std::atomic<std::size_t> heard_of = 0;

/// Ranks in the order in which rank 0 hears of them, at the front of its result's elements.
task<> note_order(context& me, const arguments& call) {
  me.arrive();
  if (me.rank() != 0) {
    co_await me.invite(0, call.received_from(0));
    if (!me.is_zero_copy(call.bytes())) {
      co_return co_await me.send(0, call.own_block(me.rank()));
    }
    co_return co_await me.receive(0, call.received_from(0));
  }
  pooled_list<std::size_t> others;
  for (std::size_t rank = 1; rank < me.size(); ++rank) others.push_back(rank);
  const bool in_place = me.is_zero_copy(call.bytes());
  auto here =
      in_place ? me.invitations_from(std::move(others)) : me.messages_from(std::move(others));
  std::size_t heard = 0;
  while (const auto from = co_await here.next()) {
    if (in_place) {
      co_await me.send(*from, call.own_block(0));
    } else {
      co_await me.receive(*from, call.received_from(*from));
    }
    call.received_from(0)[heard++] = static_cast<std::byte>(*from);
    heard_of = heard;
  }
}

const algorithm noting = {.id = "noting",
                          .what = collective::allgather,
                          .summary = "who is heard of when",
                          .source = "this test",
                          .suits = always,
                          .stages = pipelines_only,
                          .run = note_order};

void wait_until(const std::atomic<std::size_t>& count, std::size_t reaches) {
  while (count < reaches) std::this_thread::sleep_for(1ms);
}

/// Rank 2 comes first, then 3, then 1: each when the one before has been heard of.
std::vector<std::byte> order_heard(std::size_t bytes, const std::vector<std::size_t>& node_of) {
  constexpr std::size_t heard_before[] = {0, 2, 0, 1};
  heard_of = 0;
  std::vector<std::byte> heard;
  run_threads(4,
              [&](team& of) {
                std::vector<std::byte> mine(bytes, static_cast<std::byte>(of.rank()));
                std::vector<std::byte> all(bytes * of.size());
                wait_until(heard_of, heard_before[of.rank()]);
                start(of.engine(), allgather(of, mine, all)).wait();
                if (of.rank() == 0) heard.assign(all.begin(), all.begin() + 3);
              },
              {.node_of = node_of, .algorithms = {&noting, 1}});
  return heard;
}

TEST_CASE("ranks are heard of in the order in which they come, by their messages or invitations") {
  const watchdog alive("order");
  const std::vector<std::byte> expected = {std::byte{2}, std::byte{3}, std::byte{1}};
  for (const std::size_t bytes : {3, 40000}) {
    for (const std::vector<std::size_t>& nodes :
         {std::vector<std::size_t>{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 2, 3}}) {
      CHECK(order_heard(bytes, nodes) == expected);
    }
  }
}

TEST_CASE("of those that are there already the first that was named is first") {
  const watchdog alive("what is there");
  std::atomic<std::size_t> sent = 0;
  const auto body = [&sent](team& of) {
    std::vector<std::byte> mine(3);
    std::vector<std::byte> all(3 * of.size());
    if (of.rank() == 0) wait_until(sent, 3);
    start(of.engine(), allgather(of, mine, all)).wait();
    ++sent;
    if (of.rank() != 0) return;
    CHECK(all[0] == std::byte{1});
    CHECK(all[1] == std::byte{2});
    CHECK(all[2] == std::byte{3});
  };
  run_threads(4, body, {.node_of = {0, 1, 1, 0}, .algorithms = {&noting, 1}});
}

// ---- a rank's own segments

/// Every rank waits for segments of its own: before they are posted, and after.
task<> await_own_segments(context& me, const arguments&) {
  me.arrive();
  const segments none(0, 1);
  pipeline notes(me, 0, none);
  std::size_t seen = 0;
  const auto wait = [&](std::size_t segment) -> task<> {
    co_await notes.arrived(me.node_index(), segment);
    ++seen;
  };
  const auto post = [&]() -> task<> {
    CHECK(seen == 0);
    notes.post(0);
    notes.post(2);
    co_return;
  };
  auto first = wait(0);
  auto skipped = wait(1);
  auto pipeline_head = post();
  co_await when_all(std::move(first), std::move(skipped), std::move(pipeline_head));
  co_await wait(2);
  CHECK(seen == 3);
}

const algorithm awaiting_own_segments = {.id = "own_segments",
                                         .what = collective::barrier,
                                         .summary = "waits for itself",
                                         .source = "this test",
                                         .suits = always,
                                         .stages = pipelines_only,
                                         .run = await_own_segments};

TEST_CASE("a rank's own segments are there when it has posted them, in every operation anew") {
  const watchdog alive("own segments");
  run_threads(2,
              [](team& of) {
                for (int i = 0; i < 20; ++i) start(of.engine(), barrier(of)).wait();
              },
              {.algorithms = {&awaiting_own_segments, 1}});
}

// ---- who was first, and notes

/// Ranks other than 0 find out who is first of their node, and only those call on rank 0, which
/// tells each how many were before it. What they were told, and who was first, is the result.
task<> call_first(context& me, const arguments& call) {
  me.arrive();
  const std::size_t first = me.rank_of(me.first_here());
  std::uint64_t turn = 0;
  const auto note = std::as_writable_bytes(std::span(&turn, 1));
  if (me.rank() == 0) {
    pooled_list<std::size_t> others;
    for (std::size_t rank = 1; rank < me.size(); ++rank) {
      if (me.shape().node_of(rank) != me.shape().node_of(0)) others.push_back(rank);
    }
    auto here = me.messages_from(std::move(others));
    while (const auto from = co_await here.next()) {
      here.forget(me.shape().ranks_of(me.shape().node_of(*from)));
      co_await me.receive_note(*from, {});
      ++turn;
      co_await me.send_note(*from, note);
    }
  } else if (first == me.rank() && me.shape().node_of(0) != me.shape().node_of(first)) {
    co_await me.send_note(0, {});
    co_await me.receive_note(0, note);
  }
  call.receive[0] = static_cast<std::byte>(first);
  call.receive[1] = static_cast<std::byte>(turn);
}

const algorithm calling = {.id = "calling",
                           .what = collective::allgather,
                           .summary = "whoever is first of a node calls on rank 0",
                           .source = "this test",
                           .suits = always,
                           .stages = pipelines_only,
                           .run = call_first};

TEST_CASE("who is first of a node, all its ranks agree on; the others need not be heard of") {
  const watchdog alive("who is first");
  constexpr std::size_t rounds = 300;  // more than there are lanes
  const std::vector<std::size_t> node_of = {0, 1, 1, 2, 2, 2, 0};
  std::vector<std::vector<std::byte>> all(rounds);
  for (auto& each : all) each.resize(2 * node_of.size());
  run_threads(node_of.size(),
              [&](team& of) {
                const std::vector<std::byte> mine(1);
                std::vector<std::byte> result(of.size());
                for (auto& each : all) {
                  start(of.engine(), allgather(of, mine, result)).wait();
                  std::copy_n(result.begin(), 2, each.begin() + 2 * of.rank());
                }
              },
              {.node_of = node_of, .algorithms = {&calling, 1}});
  for (const auto& each : all) {
    const auto first = [&](std::size_t rank) { return static_cast<std::size_t>(each[2 * rank]); };
    const auto turn = [&](std::size_t rank) {
      return static_cast<std::size_t>(each[2 * rank + 1]);
    };
    for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
      REQUIRE(node_of[first(rank)] == node_of[rank]);
      REQUIRE(first(rank) == first(first(rank)));
    }
    CHECK(turn(first(1)) + turn(first(3)) == 3);
  }
}

TEST_CASE("first of its node is who comes first") {
  const watchdog alive("first");
  for (const std::size_t early : {0, 1, 2}) {
    std::atomic<std::size_t> done = 0;
    run_threads(3,
                [&](team& of) {
                  const std::vector<std::byte> mine(1);
                  std::vector<std::byte> result(of.size());
                  if (of.rank() != early) wait_until(done, 1);
                  start(of.engine(), allgather(of, mine, result)).wait();
                  ++done;
                  CHECK(static_cast<std::size_t>(result[0]) == early);
                },
                {.algorithms = {&calling, 1}});
  }
}

// ---- shared scratch

std::atomic<const std::byte*> last_shared_scratch = nullptr;

/// Every rank writes its block into rank 0's shared scratch, and reads all.
task<> stage_all(context& me, const arguments& call) {
  const segments none(0, 1);
  pipeline filled(me, 0, none);
  pipeline read(me, 1, none);
  const std::size_t bytes = call.bytes() * me.size();
  std::optional<shared_scratch> own;
  std::span<std::byte> shared;
  if (me.rank() == 0) {
    own.emplace(me, bytes);
    shared = own->bytes();
    last_shared_scratch = shared.data();
    own->announce();
  } else {
    me.arrive();
    shared = co_await me.shared_scratch_of(0, bytes);
  }
  co_await me.copy(shared.subspan(me.rank() * call.bytes(), call.bytes()),
                   call.own_block(me.rank()));
  filled.post(0);
  co_await filled.all_here(0);
  co_await me.copy({call.receive, bytes}, shared);
  read.take(0);
  if (!own) co_return;
  co_await read.taken(0);
  own->release();
}

const algorithm shared_scratch_all = {.id = "shared_scratch_all",
                                      .what = collective::allgather,
                                      .summary = "through one rank's shared scratch",
                                      .source = "this test",
                                      .suits = always,
                                      .stages = pipelines_only,
                                      .run = stage_all};

void gather_through_shared_scratch(team& of, std::size_t bytes) {
  std::vector<std::byte> mine(bytes, static_cast<std::byte>(of.rank() + 1));
  std::vector<std::byte> all(bytes * of.size());
  start(of.engine(), allgather(of, mine, all)).wait();
  for (std::size_t rank = 0; rank < of.size(); ++rank) {
    if (bytes != 0) REQUIRE(all[(rank + 1) * bytes - 1] == static_cast<std::byte>(rank + 1));
  }
}

TEST_CASE("shared scratch serves many operations of many sizes, and is used again") {
  const watchdog alive("shared scratch");
  run_threads(3,
              [](team& of) {
                gather_through_shared_scratch(of, 5000);
                const std::byte* const first = last_shared_scratch;
                gather_through_shared_scratch(of, 5000);
                // Rank 0 alone sets it, before the others get so far.
                if (of.rank() == 0) CHECK(last_shared_scratch == first);
                for (std::size_t i = 0; i < 50; ++i) gather_through_shared_scratch(of, 100 * i);
              },
              {.algorithms = {&shared_scratch_all, 1}});
}

TEST_CASE("more shared scratch than there can be is an error that breaks the team, not the job") {
  for (const bool share : {true, false}) {
    const watchdog alive("too much shared scratch");
    run_threads(3,
                [](team& of) {
                  std::vector<std::byte> mine(std::size_t{60} << 20);
                  std::vector<std::byte> all(mine.size() * 3);
                  const auto why =
                      failure_of([&] { start(of.engine(), allgather(of, mine, all)).wait(); });
                  REQUIRE(why);
                  CHECK(why->code() == errc::resource);
                },
                {.share_address_space = share, .algorithms = {&shared_scratch_all, 1}});
  }
}

TEST_CASE("a rank that does not come: whoever stages gets an error, and nothing is touched after") {
  for (const std::size_t missing : {0, 1, 2}) {
    const watchdog alive("shared scratch, a rank missing");
    std::atomic<int> failed = 0;
    run_threads(3,
                [&](team& of) {
                  if (of.rank() == missing) {
                    while (failed != 2) std::this_thread::sleep_for(1ms);
                    return;
                  }
                  std::vector<std::byte> mine(30000);
                  std::vector<std::byte> all(90000);
                  const auto why = failure_of([&] {
                    start(of.engine(), with_timeout(40ms, allgather(of, mine, all))).wait();
                  });
                  CHECK(why.has_value());
                  ++failed;
                },
                {.algorithms = {&shared_scratch_all, 1}});
  }
}

}  // namespace
}  // namespace muster::testing
