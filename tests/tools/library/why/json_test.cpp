#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/run/flight_recorder.hpp>

#include "tests/tools/library/why/made_up_job.hpp"
#include "tools/command/why/written.hpp"
#include "tools/library/why/json.hpp"
#include "tools/library/why/look.hpp"

namespace muster::why::testing {
namespace {

/// What was written into it.
class memory_file {
public:
  int number() const { return file_.get(); }
  std::string text() const {
    std::string all(static_cast<std::size_t>(::lseek(number(), 0, SEEK_END)), '\0');
    REQUIRE(::pread(number(), all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
    return all;
  }

private:
  descriptor file_{::memfd_create("json-test", 0)};
};

TEST_CASE("why: what was seen is the same when read again") {
  made_up_job job(3);
  job.add_team(0xffff'ffff'ffff'fff0U, {0, 2}, 4);
  job.call_on_all(an_allreduce());
  for (const std::size_t each : {0, 1}) job.wait(each, a_bcast(2), 2);
  job.call(2, a_barrier()).is = seen_call::state::failed;
  seen_call& at_once = job.call(2, a_barrier());
  at_once.begun_ns = at_once.ended_ns = 0;
  job[1].has_left = true;
  job[2].is_asleep = false;
  job[2].looked_ns = 12345;
  const std::vector<seen_rank> all = job.take();
  const memory_file file;
  {
    json_writer out(file.number(), "a \"reason\"\n");
    for (const seen_rank& each : all) out.add(each);
    CHECK(out.end());
  }
  const written again = parse(file.text());
  CHECK(again.reason == "a \"reason\" ");
  REQUIRE(again.ranks.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const seen_rank& one = all[i];
    const seen_rank& other = again.ranks[i];
    CHECK(one.rank == other.rank);
    CHECK(one.ranks == other.ranks);
    CHECK(one.process == other.process);
    CHECK(one.host.view() == other.host.view());
    CHECK(one.started_ns == other.started_ns);
    CHECK(one.seen_ns == other.seen_ns);
    CHECK(one.state == other.state);
    CHECK(one.has_left == other.has_left);
    CHECK(one.looked_ns == other.looked_ns);
    CHECK(one.is_asleep == other.is_asleep);
    REQUIRE(one.teams.size() == other.teams.size());
    for (std::size_t t = 0; t < one.teams.size(); ++t) {
      CHECK(one.teams[t].id == other.teams[t].id);
      CHECK(one.teams[t].parent == other.teams[t].parent);
      CHECK(one.teams[t].turn == other.teams[t].turn);
      CHECK(one.teams[t].ranks == other.teams[t].ranks);
      CHECK(one.teams[t].rank == other.teams[t].rank);
    }
    REQUIRE(one.calls.size() == other.calls.size());
    for (std::size_t c = 0; c < one.calls.size(); ++c) {
      CHECK(one.calls[c].team == other.calls[c].team);
      CHECK(one.calls[c].sequence == other.calls[c].sequence);
      CHECK(one.calls[c].history == other.calls[c].history);
      CHECK(one.calls[c].kind == other.calls[c].kind);
      CHECK(one.calls[c].count == other.calls[c].count);
      CHECK(one.calls[c].root == other.calls[c].root);
      CHECK(one.calls[c].begun_ns == other.calls[c].begun_ns);
      CHECK(one.calls[c].ended_ns == other.calls[c].ended_ns);
      CHECK(one.calls[c].is == other.calls[c].is);
      CHECK(one.calls[c].awaited == other.calls[c].awaited);
      CHECK(one.calls[c].first_awaited == other.calls[c].first_awaited);
    }
  }
}

TEST_CASE("why: a record is written as it is, and by its owner's clock") {
  auto memory = std::make_unique<flight_record>();
  flight_recorder recorder(
      *memory,
      {.process = ::getpid(), .rank = 2, .ranks = 3, .clock_ns = time_of_day(), .host = "there"});
  recorder.add({.id = 0, .parent = 0, .turn = 0, .ranks = 3, .rank = 2});
  flight_entry& call =
      recorder.begin({.word = (std::uint64_t{1} << 32) | 77, .kind = 1, .count = 5, .root = 1}, 0);
  flight_recorder::last(call);
  const memory_file file;
  {
    json_writer out(file.number(), "");
    out.add(found_record{*memory, true});
    CHECK(out.end());
  }
  const written again = parse(file.text());
  REQUIRE(again.ranks.size() == 1);
  const seen_rank& one = again.ranks.front();
  CHECK(one.rank == 2);
  CHECK(one.host.view() == "there");
  CHECK(one.process == ::getpid());
  CHECK(one.state == 'R');
  CHECK(one.is_asleep);
  CHECK(one.teams.size() == 1);
  REQUIRE(one.calls.size() == 1);
  CHECK(one.calls.front().sequence == 1);
  CHECK(one.calls.front().history == 77);
  CHECK(one.calls.front().is == seen_call::state::under_way);
  CHECK(one.calls.front().begun_ns >= one.started_ns);
  CHECK(one.calls.front().begun_ns <= one.seen_ns);
}

TEST_CASE("why: what cannot be written is noticed") {
  json_writer out(-1, "");
  CHECK_FALSE(out.end());
}

TEST_CASE("why: what is no file of ranks is refused") {
  for (const char* const text : {"", "{", "[]", "{}", R"({"muster_why": 2})",
                                 R"({"muster_why": 1, "reason": "", "ranks": [{}]})"}) {
    INFO(text);
    CHECK_THROWS_AS(parse(text), std::runtime_error);
  }
}

TEST_CASE("why: of each rank what was seen last, of the last job") {
  made_up_job old(3);
  made_up_job now(3);
  made_up_job later(3);
  std::vector<seen_rank> all;
  for (const std::size_t each : {0, 1, 2}) {
    old[each].started_ns = began - 1000 * second;
    old[each].seen_ns = began - 10 * second;
    later[each].seen_ns = seen + second;
  }
  all.push_back(old[1]);
  all.push_back(now[2]);
  all.push_back(later[0]);
  all.push_back(now[0]);
  const std::vector<seen_rank> kept = latest_of_each(all);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].rank == 0);
  CHECK(kept[0].seen_ns == seen + second);
  CHECK(kept[1].rank == 2);
}

TEST_CASE("why: a process that is no more is gone, and so is one whose number another has") {
  CHECK(state_of(::getpid(), time_of_day()) == 'R');
  CHECK(state_of(::getpid(), time_of_day() - 300'000'000 * second) == process::gone);
  CHECK(state_of(999'999'999, time_of_day()) == process::gone);
}

}  // namespace
}  // namespace muster::why::testing
