#include "tools/library/record.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/support/says.hpp"
#include "tests/tools/command/arrivals/made_up.hpp"

namespace muster::testing {
namespace {

using profile::parse_record;
using profile::to_text;

std::string complaint_of(std::string_view text) {
  try {
    parse_record(text);
  } catch (const std::invalid_argument& why) {
    return why.what();
  }
  return "";
}

TEST_CASE("record: what is written is read again") {
  auto other = site_of(3, {});
  other.team = 0xfedc'ba98'7654'3210;
  other.fingerprint = 7;
  other.rank = 1;
  other.ranks = 2;
  other.what = "alltoallv(float64)";
  auto record = record_of(
      3, {site_of(3, {call_at(1, -5, 10), call_at(9, 11, 4'000'000'000'000, true)}), other});
  record.left_out = 12;
  const auto read = parse_record(to_text(record));
  CHECK(to_text(read) == to_text(record));
  CHECK(read.rank == 3);
  CHECK(read.ranks == 4);
  CHECK(read.left_out == 12);
  CHECK(read.machine.trip_ns == 100);
  CHECK(read.machine.cache_bytes == 1 << 20);
  CHECK(read.machine.in_cache.staged == 1);
  CHECK(read.machine.beyond_cache.staged == 0.5);
  REQUIRE(read.sites.size() == 2);
  CHECK(read.sites[0].what == "bcast(300 x byte, root 0)");
  CHECK(read.sites[0].algorithm == "srm");
  CHECK(read.sites[0].bytes == 600);
  REQUIRE(read.sites[0].kept.size() == 2);
  CHECK(read.sites[0].kept[0].arrived == -5);
  CHECK(!read.sites[0].kept[0].failed);
  CHECK(read.sites[0].kept[1].sequence == 9);
  CHECK(read.sites[0].kept[1].left == 4'000'000'000'000);
  CHECK(read.sites[0].kept[1].failed);
  CHECK(read.sites[1].team == other.team);
  CHECK(read.sites[1].fingerprint == 7);
  CHECK(read.sites[1].rank == 1);
  CHECK(read.sites[1].ranks == 2);
  CHECK(read.sites[1].kept.empty());
}

TEST_CASE("record: how a rank's clock is related to the others'") {
  auto record = record_of(2, {site_of(2, {call_at(1, 2, 3)})});
  CHECK(!parse_record(to_text(record)).clock);
  record.clock = {.offset_ns = -5'000'000'000'000, .error_ns = 12'345};
  const auto read = parse_record(to_text(record));
  CHECK(read.clock == record.clock);
  CHECK(read.sites[0].kept[0].arrived == 2);  // by its own clock
  CHECK(says(complaint_of("muster arrivals 1\nrank 0 of 1\nclock 5\n"), "line 3: expected ' '"));
}

TEST_CASE("record: what is wrong is told with its line") {
  const std::string good = to_text(record_of(0, {site_of(0, {call_at(1, 2, 3)})}));
  CHECK(complaint_of(good).empty());
  CHECK(says(complaint_of(""), "line 1: expected 'muster arrivals 1'"));
  CHECK(says(complaint_of("muster arrivals 2\n"), "line 1"));
  CHECK(says(complaint_of("muster arrivals 1\nrank 4 of 4\n"), "line 2: there is no such rank"));
  const std::string cut = good.substr(0, good.size() - 4);
  CHECK(says(complaint_of(cut), "line 7: expected 'end'"));
  CHECK(says(complaint_of(cut + "1 2 x\nend\n"), "line 7: expected a number"));
  CHECK(says(complaint_of(cut + "1 2 3 lost\nend\n"), "line 7: did not expect ' lost'"));
  CHECK(says(complaint_of("muster arrivals 1\nrank 0 of 1\nmachine 1 1 1 1 1\nleft out 0\n1 2 3\n"),
             "line 5: expected 'site'"));
}

}  // namespace
}  // namespace muster::testing
