#include "tools/command/bench/markdown.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <stdexcept>

#include "tests/support/says.hpp"
#include "tests/tools/command/bench/measured.hpp"

namespace muster::bench {
namespace {

using testing::says;

measurement with_limit(measurement one) {
  one.limit_us = 0.25;
  return one;
}

std::vector<measurement> results(const std::vector<std::size_t>& ranks) {
  std::vector<measurement> all;
  for (const std::size_t count : ranks) {
    for (const point& at :
         {point{collective::barrier, count, 0}, point{collective::bcast, count, 4096}}) {
      std::vector<measurement> here{with_limit(measured(library::muster, at, 1)),
                                    with_limit(measured(library::openmpi, at, 20)),
                                    with_limit(measured(library::mpich, at, 300))};
      compare(here);
      all.insert(all.end(), here.begin(), here.end());
    }
  }
  return all;
}

std::string complaint(std::string_view document, const std::vector<measurement>& all) {
  try {
    refreshed(document, all);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("markdown: every library, the ratio and the limit at each size") {
  CHECK(markdown_table(results({4, 8}), 4) ==
        "| | size | Muster | Open MPI | MPICH | ratio | limit |\n"
        "|---|---|---|---|---|---|---|\n"
        "| barrier |  | 1.00 | 20.0 | 300 | 20.00 | 0.25 |\n"
        "| bcast | 4 KiB | 1.00 | 20.0 | 300 | 20.00 | 0.25 |\n");
}

TEST_CASE("markdown: what a host posts in a call, where that was counted") {
  auto all = results({4});
  all[4].sent = {.sends = 1.5, .doorbells = 1, .bytes = 40, .queue_pairs = 3};
  CHECK(says(markdown_table(all, 4),
             "| bcast | 4 KiB | 1.00 | 20.0 | 300 | 20.00 | 0.25 |\n"
             "\nPosted by a host in a call, and its queue pairs:\n\n"
             "| | size | library | sends | doorbells | bytes | queue pairs |\n"
             "|---|---|---|---|---|---|---|\n"
             "| bcast | 4 KiB | Open MPI | 1.5 | 1.0 | 40 | 3 |\n"));
}

TEST_CASE("markdown: what was not measured is a dash") {
  auto all = results({4});
  all[0].samples = 0;
  all[0].ratio.reset();
  for (measurement& one : all) one.limit_us.reset();
  CHECK(says(markdown_table(all, 4), "| barrier |  | – | 20.0 | 300 | – | – |"));
}

TEST_CASE("markdown: a wrong result is marked, and compared with nothing") {
  auto all = results({4});
  all[1].verified = false;
  CHECK(says(markdown_table(all, 4), "| barrier |  | 1.00 | WRONG 20.0 | 300 | – | 0.25 |"));
}

TEST_CASE("markdown: means by collective and number of ranks") {
  CHECK(markdown_means(results({4, 8})) ==
        "| | 4 ranks | 8 ranks |\n|---|---|---|\n| barrier | 20.00 | 20.00 |\n"
        "| bcast | 20.00 | 20.00 |\n| **all points** | 20.00 | 20.00 |\n");
}

TEST_CASE("markdown: a row an algorithm, and over how many nodes it ran") {
  auto all = results({4});
  std::erase_if(all, [](const measurement& one) { return one.at.what == collective::barrier; });
  all.insert(all.begin() + 1, with_limit(measured(library::muster, all[0].at, 4)));
  all[0].asked = "flat";
  all[1].asked = "auto";
  all[1].algorithm = "tree";
  all[0].nodes = all[1].nodes = 2;
  compare(all);
  CHECK(markdown_table(all, 4) ==
        "| | size | algorithm | Muster on 2 nodes | Open MPI | MPICH | ratio | to first | limit |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
        "| bcast | 4 KiB | flat | 1.00 | 20.0 | 300 | 20.00 | – | 0.25 |\n"
        "| bcast | 4 KiB | auto: tree | 4.00 | 20.0 | 300 | 5.00 | 0.25 | 0.25 |\n");
  CHECK(markdown_means(all) ==
        "| | 4 ranks |\n|---|---|\n| bcast flat | 20.00 |\n| bcast auto | 5.00 |\n"
        "| **all points, flat** | 20.00 |\n| **all points, auto** | 5.00 |\n\n"
        "The first algorithm's time over the others':\n\n"
        "| | 4 ranks |\n|---|---|\n| bcast flat | – |\n| bcast auto | 0.25 |\n"
        "| **all points, flat** | – |\n| **all points, auto** | 0.25 |\n");
}

TEST_CASE("markdown: tables go between their markers, again and again, and nothing else changes") {
  const std::string before = "Words.\n<!-- muster bench: 4 ranks -->\nold\n";
  const std::string after = "<!-- muster bench: end -->\nMore words.\n";
  const auto all = results({4});
  const std::string once = refreshed(before + after, all);
  CHECK(once ==
        "Words.\n<!-- muster bench: 4 ranks -->\n\n" + markdown_table(all, 4) + "\n" + after);
  CHECK(refreshed(once, all) == once);
}

TEST_CASE("markdown: a new document has a place for everything") {
  constexpr std::array<std::size_t, 2> ranks{4, 8};
  const auto all = results({4, 8});
  const std::string text = refreshed(new_document(ranks), all);
  CHECK(says(text, markdown_means(all)));
  CHECK(says(text, "## 4 ranks\n\n<!-- muster bench: 4 ranks -->\n\n" + markdown_table(all, 4)));
  CHECK(says(text, "## 8 ranks\n\n<!-- muster bench: 8 ranks -->\n\n" + markdown_table(all, 8)));
}

TEST_CASE("markdown: tables that have no place are left out") {
  const auto all = results({4, 8});
  const std::string means = "<!-- muster bench: means -->\n";
  const std::string end = "<!-- muster bench: end -->\n";
  CHECK(refreshed(means + end, all) == means + "\n" + markdown_means(all) + "\n" + end);
}

TEST_CASE("markdown: a document without a place for any table is refused, naming it") {
  CHECK(says(complaint("Words.\n", results({4})), "a line <!-- muster bench: 4 ranks -->"));
  CHECK(says(complaint("<!-- muster bench: 4 ranks -->\n", results({4})),
             "a line <!-- muster bench: end -->"));
}

}  // namespace
}  // namespace muster::bench
