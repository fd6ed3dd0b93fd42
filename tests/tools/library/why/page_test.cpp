#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tools/library/why/made_up_job.hpp"
#include "tools/library/why/page.hpp"

namespace muster::why::testing {
namespace {

bool says(const std::string& text, std::string_view what) {
  INFO(text);
  return text.find(what) != text.npos;
}

TEST_CASE("why: ranks as a list") {
  using ranks = std::vector<std::uint64_t>;
  CHECK(list_of(ranks{}) == "");
  CHECK(list_of(ranks{4}) == "4");
  CHECK(list_of(ranks{0, 1}) == "0, 1");
  CHECK(list_of(ranks{0, 1, 2, 5, 7, 8, 9}) == "0-2, 5, 7-9");
}

TEST_CASE("why: the page says who is late") {
  made_up_job job(4);
  job.call_on_all(an_allreduce());
  for (const std::size_t each : {0, 1, 3}) job.wait(each, a_bcast(2), 2);
  job[2].state = 'T';
  const std::string text = page("its deadline", job);
  CHECK(says(text, "Job of 4 ranks, seen "));
  CHECK(says(text, ": its deadline\n"));
  CHECK(says(text,
             "LATE: rank 2 (process 102 on here, stopped) has not come to call 2 of world, "
             "bcast(1 x int32, root 2).\n"
             "  Its last was call 1 of world, allreduce(4 x float64, sum), ended 50.0 s ago.\n"
             "  For it wait ranks 0, 1, 3, the longest for 50.0 s.\n"));
  CHECK(says(text,
             "  0, 1, 3: sleeping, in call 2 of world, bcast(1 x int32, root 2), waits for "
             "rank 2, for 50.0 s\n"));
  CHECK(says(text, "  2: stopped, after call 1 of world, "));
}

TEST_CASE("why: the page says which calls differ") {
  made_up_job job(3);
  for (std::size_t i = 0; i < 3; ++i) job.call(i, i == 1 ? a_bcast(0) : an_allreduce());
  CHECK(says(page("", job),
             "MISMATCH in call 1 of world: ranks 0, 2 called allreduce(4 x float64, sum); rank 1 "
             "called bcast(1 x int32, root 0).\n"));
}

TEST_CASE("why: the page says where one word for both would not do") {
  made_up_job job(2);
  for (const std::size_t each : {0, 1}) job.call(each, a_barrier()).history = each;
  CHECK(says(page("", job), "of other blocks, elements or algorithm.\n"));
}

TEST_CASE("why: the page says who waits in a circle, and whose the teams are") {
  made_up_job job(2);
  job.add_team(8, {0, 1}, 0);
  job.add_team(9, {0, 1}, 1);
  job.wait(0, a_barrier(), 1, 1, 8);
  job.wait(1, a_barrier(), 0, 1, 9);
  const std::string text = page("", job);
  CHECK(says(text, "CIRCLE: "));
  CHECK(says(text,
             "  rank 0 waits in call 1 of world.1, barrier(), for rank 1\n"
             "  rank 1 waits in call 1 of world.2, barrier(), for rank 0\n"));
  CHECK(says(text, "Teams\n  world.1: ranks 0, 1\n  world.2: ranks 0, 1\n"));
}

TEST_CASE("why: the page says when nobody waits, and who was not seen") {
  made_up_job job(3);
  job.forget(1);
  const std::string text = page("", job);
  CHECK(says(text, "Nobody waits for a rank in a collective call.\n"));
  CHECK(says(text, "Nothing is known here of rank 1, "));
  CHECK(says(text, "  0, 2: sleeping, has made no call, for 100.0 s\n"));
}

TEST_CASE("why: a page is a page, however many ranks there are") {
  made_up_job job(1000);
  for (std::size_t i = 0; i < 1000; ++i) job.wait(i, a_bcast(i), (i + 1) % 1000);
  const std::string text = page("", job);
  CHECK(std::ranges::count(text, '\n') < 1100);  // the circle is as long as it is
  CHECK(says(text, "and 988 more, see --json\n"));
}

}  // namespace
}  // namespace muster::why::testing
