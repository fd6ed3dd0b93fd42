#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/tools/mpi/usage.hpp"
#include "tools/mpi/report.hpp"

namespace muster::testing {
namespace {

using mpi::balance;
using mpi::form;
using mpi::routine_of;
using mpi::summary;
using mpi::usage;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_CASE("shim: a table with aligned columns, whose lines all say whose they are") {
  usage first = taken_by("pairwise", 1000);
  first.arrivals = balance{1000, 0.456, 1.5, 12.34, 2500};
  usage second = taken_by("bruck", 10);
  second.reasons["intercommunicator"] = 5;
  second.arrivals = balance{10, 1, 2, 3, 4700};
  usage third;
  third.reasons["operation"] = 1;
  summary all;
  all.add_rank({{alltoall, first},
                {ialltoall, second},
                {{routine_of(collective::scan), form::blocking}, third}});
  all.add_rank({{alltoall, taken_by("pairwise", 1000)}});
  const std::vector<std::string> lines = lines_of(describe(all));
  const std::vector<std::string> expected = {
      "muster: call       calls  a rank     bytes  a call     time   a call   d/T   Δ/T  most  "
      "carried out by",
      "muster: alltoall    2000    1000  1.95 MiB   1 KiB  4.00 ms  2.00 µs  0.46  1.50  12.3  "
      "pairwise",
      "muster: ialltoall     15    0–15    10 KiB   1 KiB        –  4.70 µs  1.00  2.00  3.00  "
      "bruck 10, MPI 5 (intercommunicator)",
      "muster: scan           1     0–1         –       –        –        –     –     –     –  "
      "MPI (operation)"};
  REQUIRE(lines.size() == expected.size() + 3);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(lines[i] == expected[i]);
  for (const std::string& one : lines) CHECK(one.starts_with("muster: "));
  CHECK(lines.back() == "muster: carried out 99.7 % of 2016 collective calls");
}

TEST_CASE("shim: where all, nothing or nobody took part") {
  summary all;
  all.add_rank({});
  CHECK(describe(all) == "muster: there were no collective calls\n");
  all.add_rank({{alltoall, taken_by("pairwise", 2)}});
  CHECK(lines_of(describe(all)).back() == "muster: carried out all of 2 collective calls");
  all.add_rank_without();
  const std::vector<std::string> lines = lines_of(describe(all));
  CHECK(lines.at(lines.size() - 2) ==
        "muster: calls of 1 of 3 ranks, which went to the MPI, are not among these");
  summary nobody;
  nobody.add_rank_without();
  nobody.add_rank_without();
  CHECK(describe(nobody) ==
        "muster: took no calls: the collectives of all 2 ranks went to the MPI\n");
}

}  // namespace
}  // namespace muster::testing
