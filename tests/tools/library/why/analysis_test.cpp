#include <doctest/doctest.h>

#include "tests/tools/library/why/made_up_job.hpp"

namespace muster::why::testing {
namespace {

using ranks = std::vector<std::uint64_t>;

TEST_CASE("why: nobody is late where nobody waits") {
  made_up_job job(3);
  job.call_on_all(an_allreduce());
  const verdict found = judge(job);
  CHECK(found.mismatches.empty());
  CHECK(found.culprits.empty());
  CHECK(found.circles.empty());
  CHECK(found.unseen.empty());
}

TEST_CASE("why: whoever has not come is late") {
  made_up_job job(4);
  job.call_on_all(an_allreduce());
  for (const std::size_t each : {0, 1, 3}) job.wait(each, a_barrier(), 2);
  const verdict found = judge(job);
  REQUIRE(found.culprits.size() == 1);
  const culprit& one = found.culprits.front();
  CHECK(one.rank == 2);
  CHECK_FALSE(one.has_come);
  CHECK(one.missed == call_place{0, 2});
  CHECK(one.waiting == ranks{0, 1, 3});
  CHECK(one.longest_ns < 50 * second);
  CHECK(one.longest_ns > 49 * second);
  CHECK(found.circles.empty());
}

TEST_CASE("why: several are late, whom nobody has named yet") {
  made_up_job job(4);
  for (const std::size_t each : {0, 3}) job.wait(each, a_barrier(), 0, 0);
  const verdict found = judge(job);
  REQUIRE(found.culprits.size() == 2);
  CHECK(found.culprits[0].rank == 1);
  CHECK(found.culprits[1].rank == 2);
  CHECK(found.culprits[1].waiting == ranks{0, 3});
}

TEST_CASE("why: of those that have not come only whom a call needs is late") {
  made_up_job job(4);
  job.wait(3, a_bcast(1), 1);
  const verdict found = judge(job);
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits.front().rank == 1);
}

TEST_CASE("why: those who wait for one that waits, wait for whom that one waits for") {
  made_up_job job(3);
  job.add_team(7, {1, 2});
  job.wait(0, a_barrier(), 1, 2);
  job.wait(1, an_allreduce(), 1, 1, 7);
  const verdict found = judge(job);
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits.front().rank == 2);
  CHECK(found.culprits.front().waiting == ranks{0, 1});
}

TEST_CASE("why: who is in the call and does nothing for it is stuck") {
  made_up_job job(3);
  for (const std::size_t each : {0, 1}) job.wait(each, an_allreduce(), 2);
  seen_call& last = job.wait(2, an_allreduce(), 0);
  SUBCASE("it computes") {
    job[2].state = 'R';
    job[2].is_asleep = false;
    job[2].looked_ns = seen - 20 * second;
  }
  SUBCASE("it is stopped") { job[2].state = 'T'; }
  SUBCASE("it is dead") { job[2].state = process::gone; }
  SUBCASE("it has ended the call, but died before all of it had gone") {
    last.is = seen_call::state::ended;
    job[2].state = process::gone;
  }
  const verdict found = judge(job);
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits.front().rank == 2);
  CHECK(found.culprits.front().has_come);
  CHECK(found.culprits.front().waiting == ranks{0, 1});
  CHECK(found.circles.empty());
}

TEST_CASE("why: a job that is stopped as a whole has somebody who is late") {
  made_up_job job(3);
  for (const std::size_t each : {0, 1}) job.wait(each, an_allreduce(), 2);
  for (const std::size_t each : {0, 1, 2}) job[each].state = 'T';
  const verdict found = judge(job);
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits.front().rank == 2);
  CHECK(found.culprits.front().waiting == ranks{0, 1});
}

TEST_CASE("why: who looks is not stuck, nor is one that has only just begun") {
  made_up_job job(2);
  job.wait(0, an_allreduce(), 1);
  seen_call& last = job.wait(1, an_allreduce(), 0);
  job[1].is_asleep = false;
  SUBCASE("looks") { job[1].looked_ns = seen - second / 100; }
  SUBCASE("begins") { last.begun_ns = seen - second / 10; }
  const verdict found = judge(job);
  CHECK(found.culprits.empty());
  CHECK(found.circles.size() == 1);
}

TEST_CASE("why: whose call has failed keeps nobody") {
  made_up_job job(2);
  job.wait(0, an_allreduce(), 1);
  seen_call& failed = job.call(1, an_allreduce());
  failed.is = seen_call::state::failed;
  job[1].has_left = true;
  CHECK(judge(job).culprits.empty());
}

TEST_CASE("why: two teams in two orders are a circle") {
  made_up_job job(3);
  job.add_team(8, {0, 1, 2}, 0);
  job.add_team(9, {0, 1, 2}, 1);
  for (const std::size_t each : {0, 1}) job.wait(each, a_barrier(), 2, 1, 8);
  job.wait(2, a_barrier(), 0, 2, 9);
  const verdict found = judge(job);
  CHECK(found.culprits.empty());
  CHECK(found.mismatches.empty());
  REQUIRE(found.circles.size() == 1);
  CHECK(found.circles.front().ranks == ranks{0, 2});
  CHECK(found.circles.front().calls[0].team == 8);
  CHECK(found.circles.front().calls[1].team == 9);
}

TEST_CASE("why: the first call that differs is named, with who called what") {
  made_up_job job(4);
  job.call_on_all(an_allreduce());
  for (std::size_t i = 0; i < 4; ++i) job.call(i, i == 1 ? a_bcast(0) : an_allreduce());
  job.call_on_all(a_barrier());
  const verdict found = judge(job);
  REQUIRE(found.mismatches.size() == 1);
  const mismatch& one = found.mismatches.front();
  CHECK(one.at == call_place{0, 2});
  CHECK(one.is_first);
  REQUIRE(one.groups.size() == 2);
  CHECK(one.groups[0].ranks == ranks{0, 2, 3});
  CHECK(one.groups[1].ranks == ranks{1});
  CHECK(one.groups[1].what.kind == pack_kind(a_bcast(0), 0));
}

TEST_CASE("why: root and count differ, too") {
  made_up_job job(2);
  arguments more = an_allreduce();
  more.count = 5;
  SUBCASE("root") {
    job.call(0, a_bcast(0));
    job.call(1, a_bcast(1));
  }
  SUBCASE("count") {
    job.call(0, an_allreduce());
    job.call(1, more);
  }
  CHECK(judge(job).mismatches.size() == 1);
}

TEST_CASE("why: a difference in calls no longer on record shows in those that are") {
  made_up_job job(2);
  job.call(0, an_allreduce());
  job.call(1, a_bcast(0));
  job.call_on_all(a_barrier());
  for (const std::size_t each : {0, 1}) job[each].calls.erase(job[each].calls.begin());
  const verdict found = judge(job);
  REQUIRE(found.mismatches.size() == 1);
  CHECK(found.mismatches.front().at == call_place{0, 2});
  CHECK_FALSE(found.mismatches.front().is_first);
}

TEST_CASE("why: teams that split from one another are each compared by itself") {
  made_up_job job(4);
  job.add_team(5, {0, 1});
  job.add_team(6, {2, 3});
  for (const std::size_t each : {0, 1}) job.call(each, an_allreduce(), 5);
  for (const std::size_t each : {2, 3}) job.call(each, a_barrier(), 6);
  CHECK(judge(job).mismatches.empty());
}

TEST_CASE("why: ranks that were not seen are named, and nobody blames them") {
  made_up_job job(4);
  for (const std::size_t each : {0, 1, 2}) job.wait(each, a_barrier(), 3);
  job.forget(3);
  const verdict found = judge(job);
  CHECK(found.unseen == ranks{3});
  CHECK(found.culprits.empty());
  CHECK(found.circles.empty());
}

TEST_CASE("why: who waits for one that was not seen keeps nobody by itself") {
  made_up_job job(4);
  job.wait(0, a_barrier(), 1);
  job.wait(1, a_barrier(), 3);
  job.call(2, a_barrier());
  job.forget(3);
  const verdict found = judge(job);
  CHECK(found.culprits.empty());
  CHECK(found.circles.empty());
}

TEST_CASE("why: nothing is found in nothing") {
  const verdict found = judge({});
  CHECK(found.unseen.empty());
  CHECK(found.culprits.empty());
}

TEST_CASE("why: when a call ended that waited for nothing is known by who waited in it") {
  made_up_job job(3);
  job.call_on_all(an_allreduce());
  for (const std::size_t each : {0, 1, 2}) {
    seen_call& call = job.call(each, an_allreduce());
    call.begun_ns = each == 2 ? 0 : seen - 20 * second;
    call.ended_ns = each == 2 ? 0 : seen - 5 * second;
  }
  const auto end = [&] { return end_of_last_call(job[2], job); };
  CHECK(end().from_ns == seen - 5 * second);
  CHECK(end().to_ns == seen - 5 * second);
  job[0].host = job[1].host = std::string_view("there");  // whose clock is another
  CHECK(end().from_ns == seen - 50 * second);
  CHECK(end().to_ns == seen);
}

TEST_CASE("why: when a call ended that waited is on record") {
  made_up_job job(1);
  CHECK(end_of_last_call(job[0], job).from_ns == began);
  seen_call& call = job.wait(0, a_barrier(), 0);
  call.is = seen_call::state::ended;
  call.ended_ns = seen - second;
  CHECK(end_of_last_call(job[0], job).from_ns == seen - second);
  CHECK(end_of_last_call(job[0], job).to_ns == seen - second);
}

TEST_CASE("why: teams have names that tell where they are from") {
  made_up_job job(4);
  job.add_team(5, {0, 1}, 1);
  job.add_team(6, {1}, 0, 5);
  CHECK(name_of_team(0, job) == "world");
  CHECK(name_of_team(5, job) == "world.2");
  CHECK(name_of_team(6, job) == "world.2.1");
  CHECK(name_of_team(77, job) == "team 77");
}

TEST_CASE("why: of a team that was made of very many others the name begins with one of them") {
  constexpr std::uint64_t deepest = 64;
  made_up_job job(1);
  for (std::uint64_t id = 1; id <= deepest + 1; ++id) job.add_team(id, {0}, id, id - 1);
  std::string rest = ".3";
  for (std::uint64_t id = 3; id <= deepest; ++id) rest += "." + std::to_string(id + 1);
  CHECK(name_of_team(deepest, job) == "world.2" + rest);
  CHECK(name_of_team(deepest + 1, job) == "team 1" + rest + "." + std::to_string(deepest + 2));
}

TEST_CASE("why: teams that were made of each other have names that end") {
  made_up_job job(1);
  job.add_team(1, {0}, 0, 2);
  job.add_team(2, {0}, 0, 1);
  std::string name = "team 1";
  for (int i = 0; i < 64; ++i) name += ".1";
  CHECK(name_of_team(1, job) == name);
}

}  // namespace
}  // namespace muster::why::testing
