#include "tools/command/bench/report.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tools/command/shared/progress.hpp"

namespace muster::bench {
namespace {

measurement measured(library of, const point& at, double us) {
  measurement one;
  one.at = at;
  one.of = of;
  one.verified = true;
  summarize(one, std::vector<sample>{{us * 0.9, 50, 0}, {us, 50, 0}, {us * 1.1, 50, 0}});
  return one;
}

/// Muster twice as fast as the better peer at every point.
std::vector<measurement> results(const std::vector<std::size_t>& ranks) {
  std::vector<measurement> all;
  for (const std::size_t count : ranks) {
    for (const collective what : usual_collectives) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}}) {
        const point at{what, count, has_sizes(what) ? bytes : 0};
        if (!has_sizes(what) && bytes > 8) continue;
        std::vector<measurement> here{measured(library::muster, at, 1),
                                      measured(library::openmpi, at, 2),
                                      measured(library::mpich, at, 3)};
        compare(here);
        for (measurement& one : here) one.limit_us = 0.5;
        all.insert(all.end(), here.begin(), here.end());
      }
    }
  }
  return all;
}

TEST_CASE("measurement: figures from samples") {
  const measurement one = measured(library::openmpi, {collective::bcast, 4, 8}, 10);
  CHECK(one.median_us == doctest::Approx(10));
  CHECK(one.p10_us == doctest::Approx(9.2));
  CHECK(one.p90_us == doctest::Approx(10.8));
  CHECK(one.trip_ns == doctest::Approx(50));
  CHECK(one.samples == 3);
}

TEST_CASE("measurement: the barrier of two ranks is told in trips of the same sample") {
  measurement one;
  one.at = {collective::barrier, 2, 0};
  summarize(one, std::vector<sample>{{0.1, 50, 0}, {0.3, 50, 0}, {0.4, 200, 0}});
  CHECK(*one.trips == doctest::Approx(2));
  one.at.ranks = 4;
  one.trips.reset();
  summarize(one, std::vector<sample>{{0.1, 50, 0}});
  CHECK_FALSE(one.trips.has_value());
  one.at.ranks = 2;
  one.how.between_barriers = true;
  summarize(one, std::vector<sample>{{0.1, 50, 0}});
  CHECK_FALSE(one.trips.has_value());
  one.how = {};
  one.late.emplace();
  summarize(one, std::vector<sample>{{0.1, 50, 0}});
  CHECK_FALSE(one.trips.has_value());
}

TEST_CASE("measurement: the ratio is the better peer's median over ours, and ours alone has it") {
  const auto all = results({2});
  CHECK(*all[0].ratio == doctest::Approx(2));
  CHECK_FALSE(all[1].ratio.has_value());
  CHECK_FALSE(all[2].ratio.has_value());
  CHECK(*mean_ratio(all, {}) == doctest::Approx(2));
  CHECK(*mean_ratio(all, {collective::bcast, 2}) == doctest::Approx(2));
  CHECK_FALSE(mean_ratio(all, {collective::bcast, 3}).has_value());
}

measurement asked_for(const std::string& asked, const point& at, double us) {
  measurement one = measured(library::muster, at, us);
  one.asked = asked;
  one.algorithm = asked == automatic ? "bruck" : asked;
  one.nodes = 2;
  return one;
}

measurement unsuitable(const std::string& asked, const point& at) {
  measurement one;
  one.at = at;
  one.asked = asked;
  one.suits = false;
  return one;
}

/// Two algorithms and what Muster chooses beside a peer; `flat` suits only short messages.
std::vector<measurement> results_of_algorithms() {
  std::vector<measurement> all;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}}) {
    const point at{collective::alltoall, 4, bytes};
    std::vector<measurement> here{asked_for("pairwise", at, 2), asked_for("flat", at, 4),
                                  asked_for("auto", at, 1), measured(library::openmpi, at, 3)};
    if (bytes > 8) {
      here[1] = unsuitable("flat", at);
    }
    compare(here);
    all.insert(all.end(), here.begin(), here.end());
  }
  return all;
}

TEST_CASE("measurement: several algorithms are compared with the peer and with the first") {
  const auto all = results_of_algorithms();
  CHECK(*all[0].ratio == doctest::Approx(1.5));
  CHECK_FALSE(all[0].to_first.has_value());
  CHECK(*all[1].ratio == doctest::Approx(0.75));
  CHECK(*all[1].to_first == doctest::Approx(0.5));
  CHECK(*all[2].to_first == doctest::Approx(2));
  CHECK_FALSE(all[3].to_first.has_value());
  CHECK_FALSE(all[5].to_first.has_value());
  CHECK(*mean_ratio(all, {.asked = "pairwise"}) == doctest::Approx(1.5));
  CHECK(*mean_to_first(all, {.asked = "flat"}) == doctest::Approx(0.5));
}

TEST_CASE("measurement: nothing is compared with a first algorithm that does not suit") {
  const point at{collective::alltoall, 4, 8};
  std::vector<measurement> here{unsuitable("flat", at), asked_for("pairwise", at, 1),
                                asked_for("auto", at, 2)};
  compare(here);
  CHECK_FALSE(here[1].to_first.has_value());
  CHECK_FALSE(here[2].to_first.has_value());
}

TEST_CASE("measurement: no peer, no ratio") {
  std::vector<measurement> alone{measured(library::muster, {collective::bcast, 4, 8}, 1)};
  compare(alone);
  CHECK_FALSE(alone[0].ratio.has_value());
}

TEST_CASE("measurement: a peer that failed is not compared with") {
  std::vector<measurement> here{measured(library::muster, {collective::bcast, 4, 8}, 1),
                                measurement{},
                                measured(library::mpich, {collective::bcast, 4, 8}, 3)};
  here[1].of = library::openmpi;
  compare(here);
  CHECK(*here[0].ratio == doctest::Approx(3));
}

TEST_CASE("json: an array of objects with the agreed fields") {
  const auto all = results({2, 8});
  const auto json = nlohmann::json::parse(to_json(all, {"here", "today", {}}).dump());
  REQUIRE(json.is_array());
  REQUIRE(json.size() == all.size());
  for (const auto& object : json) {
    CHECK(object.at("collective").is_string());
    CHECK(object.at("algorithm").is_string());
    CHECK(object.at("library").is_string());
    CHECK(object.at("ranks").is_number_unsigned());
    CHECK(object.at("nodes") == 1);
    CHECK(object.at("bytes").is_number_unsigned());
    for (const char* figure : {"median_us", "p10_us", "p90_us"}) CHECK(object.at(figure) > 0);
    CHECK(object.at("verified") == true);
    CHECK(object.at("limit_us") == 0.5);
    CHECK(object.contains("ratio") == (object.at("library") == "muster"));
  }
}

TEST_CASE("json: where and when, and which version of each library") {
  const environment_facts about{"two CPUs", "2026-11-20 17:00 UTC", {"Muster", "Open MPI 4.1.4"}};
  const auto array = to_json(results({2}), about);
  CHECK(array.at(0).at("machine") == "two CPUs");
  CHECK(array.at(0).at("date") == "2026-11-20 17:00 UTC");
  CHECK(array.at(0).at("version") == "Muster");
  CHECK(array.at(1).at("version") == "Open MPI 4.1.4");
  CHECK_FALSE(array.at(2).contains("version"));
}

TEST_CASE("json: the version of a library that is measured in two ways") {
  const point at{collective::bcast, 4, 8};
  const environment_facts about{"two CPUs", "today", {"Open MPI 4.1.4", "Gloo 0.5.0"}};
  const auto array = to_json(std::vector<measurement>{measured(library::openmpi_han, at, 1),
                                                      measured(library::gloo, at, 1)},
                             about);
  CHECK(array.at(0).at("library") == "openmpi_han");
  CHECK(array.at(0).at("version") == "Open MPI 4.1.4");
  CHECK(array.at(1).at("library") == "gloo");
  CHECK(array.at(1).at("version") == "Gloo 0.5.0");
}

TEST_CASE("json: what algorithm was asked for, and whether it suits") {
  const auto all = results_of_algorithms();
  CHECK(to_json(all[2]).at("asked") == "auto");
  CHECK(to_json(all[2]).at("algorithm") == "bruck");
  CHECK(to_json(all[2]).at("nodes") == 2);
  CHECK(to_json(all[2]).at("to_first") == doctest::Approx(2));
  CHECK_FALSE(to_json(all[3]).contains("asked"));
  CHECK(to_json(all[5]).at("suits") == false);
  CHECK(to_json(all[5]).at("median_us").is_null());
  CHECK_FALSE(to_json(all[5]).contains("failure"));
}

TEST_CASE("json: how ranks came late") {
  measurement late = measured(library::muster, {collective::bcast, 4, 8}, 1);
  CHECK_FALSE(to_json(late).contains("arrivals"));
  late.late = {"random:mif=32", 7, 150};
  const auto object = to_json(late);
  CHECK(object.at("arrivals") == "random:mif=32");
  CHECK(object.at("seed") == 7);
  CHECK(object.at("message_time_ns") == 150);
}

TEST_CASE("json: how calls were made, where not as usual, and what reductions combined") {
  measurement one = measured(library::muster, {collective::bcast, 4, 8}, 1);
  for (const char* name : {"loop", "buffers", "excluded", "type"}) {
    CHECK_FALSE(to_json(one).contains(name));
  }
  one.how = {.between_barriers = true,
             .same_buffers = true,
             .offset = 16,
             .excluded = true,
             .type = datatype::int8};
  CHECK(to_json(one).at("loop") == "barrier");
  CHECK(to_json(one).at("buffers") == "same");
  CHECK(to_json(one).at("excluded") == true);
  CHECK_FALSE(to_json(one).contains("type"));
  one.at.what = collective::scan;
  CHECK(to_json(one).at("type") == "char");
  one.how = {};
  CHECK(to_json(one).at("type") == "double");
}

TEST_CASE("measurement: what a host posts in a call") {
  const posted sent{.sends = 60, .doorbells = 40, .bytes = 800, .queue_pairs = 6};
  const auto found = of_a_host(sent, 2, 10);
  REQUIRE(found.has_value());
  CHECK(found->sends == doctest::Approx(3));
  CHECK(found->doorbells == doctest::Approx(2));
  CHECK(found->bytes == doctest::Approx(40));
  CHECK(found->queue_pairs == doctest::Approx(3));
  CHECK_FALSE(of_a_host({}, 2, 10).has_value());
  CHECK_FALSE(of_a_host(sent, 2, 0).has_value());
}

TEST_CASE("json: what a host posts in a call") {
  measurement one = measured(library::mpich, {collective::bcast, 4, 8}, 1);
  CHECK_FALSE(to_json(one).contains("sends"));
  one.sent = {.sends = 1.5, .doorbells = 1, .bytes = 40, .queue_pairs = 3};
  CHECK(to_json(one).at("sends") == doctest::Approx(1.5));
  CHECK(to_json(one).at("doorbells") == doctest::Approx(1));
  CHECK(to_json(one).at("sent_bytes") == doctest::Approx(40));
  CHECK(to_json(one).at("queue_pairs") == doctest::Approx(3));
}

TEST_CASE("json: a library that failed is there, without figures, and says why") {
  measurement failed;
  failed.failure = "rank 3 died";
  const auto object = to_json(failed);
  CHECK(object.at("median_us").is_null());
  CHECK(object.at("verified") == false);
  CHECK(object.at("failure") == "rank 3 died");
}

TEST_CASE("table: a row a size, the ratio at each") {
  const auto all = results({2});
  const std::string table = point_table(all, collective::alltoall, 2, {});
  CHECK(table.find("alltoall, 2 ranks") != std::string::npos);
  CHECK(table.find("4 KiB") != std::string::npos);
  CHECK(table.find("1.00 µs") != std::string::npos);
  CHECK(table.find("2.00   50 ns    0.50 µs\n") != std::string::npos);
  CHECK(table.find("limit\n") != std::string::npos);
  CHECK(table.find('\033') == std::string::npos);
  CHECK(point_table(all, collective::alltoall, 2, {.colours = true}).find("\033[32m") !=
        std::string::npos);
}

TEST_CASE("table: a row an algorithm; what is of the point is told once") {
  const std::string table = point_table(results_of_algorithms(), collective::alltoall, 4, {});
  CHECK(table ==
        "alltoall, 4 ranks, Muster's on 2 nodes, bytes a block\n"
        "    size  algorithm       Muster   Open MPI   ratio  to first    trip      limit\n"
        "     8 B  pairwise       2.00 µs    3.00 µs    1.50         –   50 ns          –\n"
        "          flat           4.00 µs               0.75      0.50\n"
        "          auto: bruck    1.00 µs               3.00      2.00\n"
        "   4 KiB  pairwise       2.00 µs    3.00 µs    1.50         –   50 ns          –\n"
        "          flat                 –                  –         –  does not suit\n"
        "          auto: bruck    1.00 µs               3.00      2.00\n");
}

TEST_CASE("table: what a host posts in a call, where that was counted") {
  auto all = results({2});
  CHECK(point_table(all, collective::bcast, 2, {}).find("posted") == std::string::npos);
  for (measurement& one : all) {
    if (one.at.what != collective::bcast || one.at.bytes != 8) continue;
    one.sent = {.sends = 1.5, .doorbells = 1, .bytes = 40, .queue_pairs = 3};
  }
  const std::string table = point_table(all, collective::bcast, 2, {});
  CHECK(table.substr(table.find("posted")) ==
        "posted by a host in a call, and its queue pairs\n"
        "    size  library                 sends  doorbells      bytes  queue pairs\n"
        "     8 B  Muster                    1.5        1.0         40            3\n"
        "     8 B  Open MPI                  1.5        1.0         40            3\n"
        "     8 B  MPICH                     1.5        1.0         40            3\n");
}

TEST_CASE("table: a library with a long name has a wide column") {
  const point at{collective::bcast, 4, 8};
  std::vector<measurement> here{measured(library::muster, at, 1),
                                measured(library::openmpi_han, at, 2),
                                measured(library::gloo, at, 3)};
  compare(here);
  const std::string table = point_table(here, collective::bcast, 4, {});
  CHECK(table.ends_with(
      "    size     Muster  Open MPI with HAN       Gloo   ratio    trip      limit\n"
      "     8 B    1.00 µs            2.00 µs    3.00 µs    2.00   50 ns          –\n"));
}

TEST_CASE("table: means of each algorithm, over the peers and over the first") {
  CHECK(summary_table(results_of_algorithms(), {}) ==
        "the better peer's time over Muster's, geometric means\n"
        "                        4 ranks\n"
        "alltoall pairwise          1.50\n"
        "alltoall flat              0.75\n"
        "alltoall auto              3.00\n"
        "all pairwise               1.50\n"
        "all flat                   0.75\n"
        "all auto                   3.00\n\n"
        "the first algorithm's time over the others', geometric means\n"
        "                        4 ranks\n"
        "alltoall pairwise             –\n"
        "alltoall flat              0.50\n"
        "alltoall auto              2.00\n"
        "all pairwise                  –\n"
        "all flat                   0.50\n"
        "all auto                   2.00\n");
}

TEST_CASE("table: how ranks came late, and the message time of each row") {
  auto all = results({2});
  CHECK(point_table(all, collective::bcast, 2, {}).find("arrivals") == std::string::npos);
  for (measurement& one : all) one.late = {"random:mif=32", 7, 1500};
  const std::string table = point_table(all, collective::bcast, 2, {});
  CHECK(table.find("bcast, 2 ranks, arrivals random:mif=32, seed 7\n") != std::string::npos);
  CHECK(table.find("message\n") != std::string::npos);
  CHECK(table.find("1.50 µs\n") != std::string::npos);
}

TEST_CASE("table: how calls were made, where not as usual") {
  auto all = results({2});
  const auto says = [&](collective what, const char* text) {
    return point_table(all, what, 2, {}).starts_with(text);
  };
  CHECK(says(collective::reduce, "reduce, 2 ranks\n"));
  for (measurement& one : all)
    one.how = {.between_barriers = true, .same_buffers = true, .type = datatype::float32};
  CHECK(says(collective::reduce, "reduce, 2 ranks, between barriers, float, same buffers\n"));
  CHECK(says(collective::bcast, "bcast, 2 ranks, between barriers, same buffers\n"));
  for (measurement& one : all) one.how = {.excluded = true};
  CHECK(says(collective::bcast, "bcast, 2 ranks, left to the MPI\n"));
  for (measurement& one : all) one.how = {.in_torch = true};
  CHECK(says(collective::bcast, "bcast, 2 ranks, in torch\n"));
}

TEST_CASE("table: wrong results and failures can't be overlooked") {
  auto all = results({2});
  all[1].verified = false;
  CHECK(point_table(all, collective::barrier, 2, {}).find("Open MPI WRONG") != std::string::npos);
  measurement failed;
  failed.at = {collective::barrier, 2, 0};
  CHECK(point_table(std::vector{failed}, collective::barrier, 2, {}).find("–") !=
        std::string::npos);
}

TEST_CASE("table: means by collective, by rank count and over all") {
  const std::string table = summary_table(results({2, 8}), {});
  for (const char* word : {"barrier", "alltoall", "2 ranks", "8 ranks", "all", "2.00"}) {
    CAPTURE(word);
    CHECK(table.find(word) != std::string::npos);
  }
}

TEST_CASE("progress: bars and durations") {
  CHECK(bar(0, 4) == "────");
  CHECK(bar(0.5, 4) == "━━──");
  CHECK(bar(0.4, 4) == "━╸──");
  CHECK(bar(1, 4) == "━━━━");
  CHECK(bar(7, 2) == "━━");
  CHECK(first_letters("4.7 µs", 5) == "4.7 µ");
  CHECK(first_letters("4.7", 5) == "4.7");
  CHECK(readable_duration(std::chrono::seconds(7)) == "0:07");
  CHECK(readable_duration(std::chrono::seconds(3723)) == "1:02:03");
}

}  // namespace
}  // namespace muster::bench
