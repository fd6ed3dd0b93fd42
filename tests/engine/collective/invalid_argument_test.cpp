// Bad input: an error that names call, argument and expectation, thrown before anything is sent.

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/harness/watchdog.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t ranks = 2;
constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

std::byte some_bytes[64 * ranks];

/// A call that is right in all respects.
arguments good(collective what) {
  arguments call;
  call.what = what;
  if (what == collective::barrier) return call;
  call.type = datatype::int32;
  call.count = 4;
  call.send = what == collective::bcast ? nullptr : some_bytes;
  call.receive = some_bytes;
  if (what == collective::reduce || what == collective::allreduce) call.op = sum;
  return call;
}

struct bad_call {
  const char* what_is_wrong;
  arguments call;
  std::vector<std::string_view> text;  // must all occur
};

bad_call bad(const char* wrong, collective what, void (*spoil)(arguments&),
             std::vector<std::string_view> text) {
  bad_call result{wrong, good(what), std::move(text)};
  spoil(result.call);
  return result;
}

std::vector<bad_call> bad_calls() {
  std::vector<bad_call> all;
  const auto no_buffers = [](arguments& call) { call.send = nullptr, call.receive = nullptr; };
  const auto no_receive = [](arguments& call) { call.receive = nullptr; };
  const auto wrong_root = [](arguments& call) { call.root = ranks; };
  const auto huge_root = [](arguments& call) { call.root = huge; };
  const auto no_op = [](arguments& call) { call.op = reduction::none; };
  const auto unknown_op = [](arguments& call) { call.op = static_cast<reduction>(99); };
  const auto unknown_type = [](arguments& call) { call.type = static_cast<datatype>(77); };
  const auto huge_count = [](arguments& call) { call.count = huge; };
  const auto wrapping_count = [](arguments& call) { call.count = huge / 4 + 2; };
  const auto large_block = [](arguments& call) { call.count = huge / 2 / 4 / ranks + 1; };

  for (const collective what : {collective::bcast, collective::reduce, collective::allreduce,
                                collective::allgather, collective::alltoall}) {
    const std::string_view call = name(what);
    all.push_back(bad("no buffers", what, no_buffers, {call, "null", "4", "expected"}));
    all.push_back(bad("huge count", what, huge_count, {call, "count", "overflow", "expected"}));
    all.push_back(bad("wrapping count", what, wrapping_count, {call, "count", "overflow"}));
    all.push_back(bad("unknown type", what, unknown_type, {call, "type", "expected"}));
  }
  for (const collective what :
       {collective::allreduce, collective::allgather, collective::alltoall}) {
    all.push_back(bad("no receive buffer", what, no_receive, {name(what), "receive", "null"}));
  }
  for (const collective what : {collective::allgather, collective::alltoall}) {
    all.push_back(bad("large block", what, large_block, {name(what), "count", "overflow"}));
  }
  for (const collective what : {collective::bcast, collective::reduce}) {
    all.push_back(bad("wrong root", what, wrong_root, {name(what), "root is 2", "0 to 1"}));
    all.push_back(bad("huge root", what, huge_root, {name(what), "root", "expected"}));
  }
  for (const collective what : {collective::reduce, collective::allreduce}) {
    all.push_back(bad("no op", what, no_op, {name(what), "op", "expected sum"}));
    all.push_back(bad("unknown op", what, unknown_op, {name(what), "op", "expected sum"}));
  }
  return all;
}

void check_refused(team& of, const bad_call& bad) {
  INFO(name(bad.call.what), ": ", bad.what_is_wrong);
  const auto why = failure_of([&] { start(perform(of, bad.call)).wait(); });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  for (const std::string_view part : bad.text) {
    INFO(std::string(part), " in: ", std::string(why->what()));
    CHECK(std::string_view(why->what()).find(part) != std::string_view::npos);
  }
}

void check_team_is_whole(team& of) {
  std::array<int, 2> both = {static_cast<int>(of.rank()), 1};
  start(allreduce(of, both, sum)).wait();
  CHECK(both == std::array<int, 2>{1, 2});
}

TEST_CASE("wrong plain arguments are refused and the team is whole afterwards") {
  const watchdog alive("invalid arguments");
  for (const std::vector<std::size_t>& nodes :
       {std::vector<std::size_t>{0, 0}, std::vector<std::size_t>{0, 1}}) {
    run_threads(ranks,
                [](team& of) {
                  for (const bad_call& each : bad_calls()) {
                    check_refused(of, each);
                    check_team_is_whole(of);
                  }
                },
                {.node_of = nodes});
  }
}

TEST_CASE("one rank alone is refused: nobody else notices") {
  const watchdog alive("invalid arguments of one rank");
  run_threads(ranks, [](team& of) {
    if (of.rank() == 0) {
      for (const bad_call& each : bad_calls()) check_refused(of, each);
    }
    check_team_is_whole(of);
  });
}

void check_text(const std::optional<error>& why, std::string_view call, std::string_view has,
                std::string_view expected) {
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  for (const std::string_view part : {call, has, expected}) {
    INFO(std::string(part), " in: ", std::string(why->what()));
    CHECK(std::string_view(why->what()).find(part) != std::string_view::npos);
  }
}

TEST_CASE("wrong sizes of typed buffers") {
  const watchdog alive("wrong sizes");
  run_threads(ranks, [](team& of) {
    std::vector<int> three(3);
    std::vector<int> four(4);
    std::vector<int> six(6);
    check_text(failure_of([&] { start(allreduce(of, three, four, sum)).wait(); }), "allreduce",
               "has 4", "expected 3");
    check_text(failure_of([&] { start(allgather(of, three, four)).wait(); }), "allgather", "has 4",
               "expected 6");
    check_text(failure_of([&] { start(allgather(of, three)).wait(); }), "allgather", "3 elements",
               "multiple of the 2");
    check_text(failure_of([&] { start(alltoall(of, three, three)).wait(); }), "alltoall",
               "3 elements", "multiple of the 2");
    check_text(failure_of([&] { start(alltoall(of, four, six)).wait(); }), "alltoall", "has 6",
               "expected 4");
    check_text(failure_of([&] { start(alltoall(of, three)).wait(); }), "alltoall", "3 elements",
               "multiple of the 2");
    check_text(failure_of([&] { start(bcast(of, three, 2)).wait(); }), "bcast", "root is 2",
               "0 to 1");
    const auto reduced = [&] { start(reduce(of, three, four, sum, 0)).wait(); };
    // Elsewhere the receive buffer is ignored, and the call would wait.
    if (of.rank() == 0) check_text(failure_of(reduced), "reduce", "has 4", "expected 3");
    check_team_is_whole(of);
  });
}

TEST_CASE("blocks of a reduce-scatter that do not follow each other") {
  const watchdog alive("apart");
  run_threads(ranks, [](team& of) {
    arguments call;
    call.what = collective::reduce_scatter;
    call.op = sum;
    call.count = 2;
    call.send = call.receive = some_bytes;
    const std::array<std::size_t, ranks> counts = {2, 2};
    const std::array<std::size_t, ranks> apart = {0, 3};
    const block_layout layout{counts, apart};
    call.send_blocks = &layout;
    check_text(failure_of([&] { start(perform(of, call)).wait(); }), "reduce_scatter",
               "block 1 begins at 3", "expected 2");
    check_team_is_whole(of);
  });
}

TEST_CASE("nothing to move needs no buffers") {
  const watchdog alive("no buffers needed");
  run_threads(ranks, [](team& of) {
    for (std::size_t what = 0; what < collectives; ++what) {
      arguments call;
      call.what = static_cast<collective>(what);
      if (has_varying_blocks(call.what)) continue;  // needs their lengths
      if (has_op(call.what)) call.op = sum;
      start(perform(of, call)).wait();
    }
    std::vector<double> none;
    start(allreduce(of, none, none, max)).wait();
    start(bcast(of, none, 1)).wait();
    start(alltoall(of, none, none)).wait();
    start(allgather(of, none, none)).wait();
    start(reduce(of, none, none, max, 1)).wait();
  });
}

}  // namespace
}  // namespace muster::testing
