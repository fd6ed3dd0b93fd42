#include "tools/command/shared/arrivals.hpp"
#include "tests/support/says.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace muster::arrivals {
namespace {

using namespace std::chrono_literals;
using delays = std::vector<std::chrono::nanoseconds>;

/// A file with recorded delays, for as long as the test runs.
class recording {
public:
  explicit recording(const std::string& text) { std::ofstream(path_) << text; }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
  ~recording() { std::filesystem::remove(path_); }

  std::string spec() const { return "file:" + path_.string(); }

private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("muster-arrivals-" + std::to_string(getpid()) + ".json");
};

/// What `parse` says to this text, which is wrong.
std::string complaint(const std::string& text) {
  try {
    parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::string complaint_about_file(const std::string& text) {
  return complaint(recording(text).spec());
}

using testing::says;

delays delays_of_call(const pattern& what, const setting& around, std::uint64_t call) {
  delays all;
  for (std::size_t rank = 0; rank < around.ranks; ++rank) {
    all.push_back(delay(what, around, rank, call));
  }
  return all;
}

std::ptrdiff_t late_in(const delays& all, std::chrono::nanoseconds lateness) {
  return std::count(all.begin(), all.end(), lateness);
}

TEST_CASE("arrivals: what is understood") {
  CHECK(std::holds_alternative<on_time>(parse("none").how));
  CHECK(std::get<random_delays>(parse("random:mif=32").how).mif == 32);
  CHECK(std::get<random_delays>(parse("random:mif=0.5").how).mif == 0.5);
  const auto late = std::get<late_share>(parse("late:share=25%,mif=128").how);
  CHECK(late.share == 0.25);
  CHECK(late.mif == 128);
  CHECK(std::get<late_share>(parse("late:mif=1,share=12.5%").how).share == 0.125);
  CHECK(parse("random:mif=32").text == "random:mif=32");
}

TEST_CASE("arrivals: what is wrong is named, with what was expected") {
  CHECK(says(complaint(""), "'': not a pattern of arrivals; expected one of none, random:mif=F"));
  CHECK(says(complaint("rand:mif=3"), "'rand:mif=3': not a pattern of arrivals"));
  CHECK(says(complaint("none:mif=3"), "not a pattern of arrivals"));
  CHECK(says(complaint("random"), "'random': it sets no mif; expected random:mif=F"));
  CHECK(says(complaint("random:mif"), "it sets no mif"));
  CHECK(says(complaint("random:mif="), "'' is not a mif"));
  CHECK(says(complaint("random:mif=x"), "'random:mif=x': 'x' is not a mif; expected random:mif=F"));
  CHECK(says(complaint("random:mif=3x"), "'3x' is not a mif"));
  CHECK(says(complaint("random:mif=-1"), "'-1' is not a mif"));
  CHECK(says(complaint("random:mif=nan"), "'nan' is not a mif"));
  CHECK(says(complaint("random:mif=1e7"), "'1e7' is not a mif"));
  CHECK(says(complaint("random:mif=1,mif=2"), "did not expect 'mif=2'"));
  CHECK(says(complaint("random:mif=1,share=5%"), "did not expect 'share=5%'"));
  CHECK(says(complaint("random:mif=1,"), "did not expect ''"));
  CHECK(says(complaint("late:mif=128"), "it sets no share; expected late:share=P%,mif=F"));
  CHECK(says(complaint("late:share=25%"), "it sets no mif"));
  CHECK(says(complaint("late:share=25,mif=1"), "'25' is not a share"));
  CHECK(says(complaint("late:share=0.25,mif=1"), "'0.25' is not a share"));
  CHECK(says(complaint("late:share=0%,mif=1"), "nobody would be later than another"));
  CHECK(says(complaint("late:share=100%,mif=1"), "nobody would be later than another"));
  CHECK(says(complaint("late:share=101%,mif=1"), "'101%' is not a share"));
}

TEST_CASE("arrivals: a file that is wrong is named, with the call and what was expected") {
  CHECK(says(complaint("file:"), "'file:': it names no file; expected file:PATH"));
  CHECK(says(complaint("file"), "it names no file"));
  CHECK(says(complaint("file:/no/such.json"), "'file:/no/such.json': cannot read the file"));
  CHECK(says(complaint_about_file("{"), "not JSON of an object; expected {\"unit\": \"ns\""));
  CHECK(says(complaint_about_file("[[1, 2]]"), "not JSON of an object"));
  CHECK(says(complaint_about_file(R"({"delays": [[1]]})"), "its \"unit\" is not \"ns\""));
  CHECK(says(complaint_about_file(R"({"unit": "us", "delays": [[1]]})"), "is not \"ns\""));
  CHECK(says(complaint_about_file(R"({"unit": "ns"})"), "it has no \"delays\""));
  CHECK(says(complaint_about_file(R"({"unit": "ns", "delays": []})"), "it has no \"delays\""));
  CHECK(says(complaint_about_file(R"({"unit": "ns", "delays": [[]]})"), "call 0: no list"));
  CHECK(says(complaint_about_file(R"({"unit": "ns", "delays": [[1, 2], 3]})"), "call 1: no list"));
  CHECK(says(complaint_about_file(R"({"unit": "ns", "delays": [[1, 2], [3]]})"),
             "call 1: 1 delays; expected 2 as in call 0"));
  for (const char* wrong : {"-1", "1.5", "\"1\"", "null", "18446744073709551615"}) {
    CAPTURE(wrong);
    CHECK(says(complaint_about_file(R"({"unit": "ns", "delays": [[)" + std::string(wrong) + "]]}"),
               "call 0: " + std::string(wrong) + " is not a whole number of nanoseconds"));
  }
}

TEST_CASE("arrivals: on time is on time") {
  CHECK(delays_of_call(pattern{}, {7, 3, 1us}, 5) == delays{0ns, 0ns, 0ns});
  CHECK(delays_of_call(parse("random:mif=0"), {7, 3, 1us}, 5) == delays{0ns, 0ns, 0ns});
}

TEST_CASE("arrivals: random delays fill their bounds evenly") {
  const pattern what = parse("random:mif=3");
  const setting around{1, 4, 3ns};  // so few choices that each of them comes up
  std::map<std::int64_t, std::size_t> seen;
  constexpr std::uint64_t calls = 10000;
  for (std::uint64_t call = 0; call < calls; ++call) {
    for (const auto one : delays_of_call(what, around, call)) seen[one.count()] += 1;
  }
  CHECK(seen.size() == 10);
  CHECK(seen.begin()->first == 0);
  CHECK(seen.rbegin()->first == 9);
  for (const auto& [ns, times] : seen) {
    CAPTURE(ns);
    CHECK(times == doctest::Approx(4.0 * calls / 10).epsilon(0.06));
  }
}

TEST_CASE("arrivals: a share is exact at every call, and each rank has its turn") {
  const setting around{42, 8, 10ns};
  for (const auto& [text, late] : std::map<std::string, long>{{"late:share=25%,mif=128", 2},
                                                              {"late:share=75%,mif=128", 6},
                                                              {"late:share=1%,mif=128", 1},
                                                              {"late:share=99%,mif=128", 7}}) {
    CAPTURE(text);
    const pattern what = parse(text);
    std::vector<long> turns(around.ranks, 0);
    constexpr long calls = 4000;
    for (std::uint64_t call = 0; call < calls; ++call) {
      const delays all = delays_of_call(what, around, call);
      REQUIRE(late_in(all, 1280ns) == late);
      REQUIRE(late_in(all, 0ns) == 8 - late);
      for (std::size_t rank = 0; rank < all.size(); ++rank) turns[rank] += all[rank] > 0ns ? 1 : 0;
    }
    for (const long times : turns) {
      CHECK(times == doctest::Approx(static_cast<double>(calls * late / 8)).epsilon(0.15));
    }
  }
}

TEST_CASE("arrivals: how many of few ranks a share makes late") {
  const late_share quarter{0.25, 1};
  const late_share most{0.75, 1};
  CHECK(late_ranks(quarter, 1) == 0);
  CHECK(late_ranks(quarter, 2) == 1);
  CHECK(late_ranks(quarter, 4) == 1);
  CHECK(late_ranks(quarter, 6) == 2);
  CHECK(late_ranks(quarter, 16) == 4);
  CHECK(late_ranks(most, 2) == 1);
  CHECK(late_ranks(most, 4) == 3);
  CHECK(late_ranks(most, 16) == 12);
  CHECK(delay(parse("late:share=25%,mif=1"), {1, 1, 1us}, 0, 0) == 0ns);
}

TEST_CASE("arrivals: the same everywhere, and by seed, call and rank") {
  const pattern what = parse("random:mif=1000");
  const setting around{1, 4, 1000ns};
  // These may never change: results are compared by their seed.
  CHECK(delays_of_call(what, around, 0) == delays{693512ns, 423211ns, 113091ns, 856744ns});
  CHECK(delays_of_call(what, around, 1000000007) == delays{170184ns, 823017ns, 120962ns, 512960ns});
  CHECK(delays_of_call(parse("late:share=50%,mif=2"), around, 3) ==
        delays{0ns, 2000ns, 0ns, 2000ns});
  CHECK(delays_of_call(what, around, 5) == delays_of_call(what, around, 5));
  CHECK(delays_of_call(what, around, 5) != delays_of_call(what, around, 6));
  CHECK(delays_of_call(what, around, 5) != delays_of_call(what, {2, 4, 1000ns}, 5));
  const delays one_call = delays_of_call(what, around, 5);
  CHECK(std::adjacent_find(one_call.begin(), one_call.end()) == one_call.end());
}

TEST_CASE("arrivals: the longest delays there may be") {
  const pattern what = parse("random:mif=1e6");
  const setting around{1, 2, std::chrono::nanoseconds::max()};
  for (std::uint64_t call = 0; call < 100; ++call) CHECK(delay(what, around, 1, call) >= 0ns);
}

TEST_CASE("arrivals: recorded delays, repeated when they are over") {
  const recording file(R"({"unit": "ns", "delays": [[0, 10, 200], [3000, 0, 7]]})");
  const pattern what = parse(file.spec());
  const setting around{1, 3, 1us};
  for (const std::uint64_t call : {0, 2, 1000}) {
    CHECK(delays_of_call(what, around, call) == delays{0ns, 10ns, 200ns});
    CHECK(delays_of_call(what, around, call + 1) == delays{3000ns, 0ns, 7ns});
  }
}

TEST_CASE("arrivals: recorded delays are for so many ranks, the others for any") {
  const recording file(R"({"unit": "ns", "delays": [[0, 10, 200]]})");
  const pattern what = parse(file.spec());
  require_ranks(what, 3);
  std::string complaint;
  try {
    require_ranks(what, 4);
  } catch (const std::invalid_argument& error) {
    complaint = error.what();
  }
  CHECK(says(complaint, file.spec() + "': it has the delays of 3 ranks; expected those of 4"));
  require_ranks(parse("none"), 4);
  require_ranks(parse("random:mif=1"), 4);
  require_ranks(parse("late:share=25%,mif=128"), 4);
}

}  // namespace
}  // namespace muster::arrivals
