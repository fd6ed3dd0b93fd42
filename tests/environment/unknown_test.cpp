#include <doctest/doctest.h>

#include <set>

#include <muster/environment/environment.hpp>
#include <muster/run/team.hpp>

namespace muster::environment {
namespace {

std::string complaint(std::vector<std::string_view> names) {
  return complaint_about(names).value_or("none");
}

TEST_CASE("environment: what is read is known") {
  for (const variable& one : variables()) CHECK(is_known(one.name));
  CHECK(is_known("MUSTER_ALLTOALL"));
  CHECK(is_known("MUSTER_REDUCE_SCATTER"));
  CHECK_FALSE(is_known("MUSTER_"));
  CHECK_FALSE(is_known("MUSTER_TABL"));
  CHECK(complaint({"MUSTER_TABLE", "MUSTER_JOB", "MUSTER_ALLREDUCE"}) == "none");
}

TEST_CASE("environment: names of others are no matter") {
  CHECK(complaint({"PATH", "MUSTERED", "muster_table", "OMPI_MUSTER_X", ""}) == "none");
}

TEST_CASE("environment: what is unknown is named, with what may have been meant") {
  CHECK(complaint({"PATH", "MUSTER_REPROT"}) ==
        "muster: the environment has what nobody reads: MUSTER_REPROT (MUSTER_REPORT?)");
  CHECK(complaint({"MUSTER_ALTOALL", "MUSTER_TABLE", "MUSTER_FROBNICATION"}) ==
        "muster: the environment has what nobody reads: MUSTER_ALTOALL (MUSTER_ALLTOALL?), "
        "MUSTER_FROBNICATION");
}

TEST_CASE("environment: the page has every variable once") {
  const std::string text = page();
  std::set<std::string> names;
  for (const variable& one : variables()) {
    CHECK(names.insert(one.name).second);
    CHECK_FALSE(one.values.empty());
    CHECK_FALSE(one.otherwise.empty());
    CHECK(one.what.ends_with('.'));
    CHECK_FALSE(one.reader.empty());
  }
  for (std::size_t i = 0; i < collectives; ++i) {
    CHECK(names.insert(environment_name(static_cast<collective>(i))).second);
  }
  for (const std::string& name : names) {
    INFO(name);
    const std::string cell = "`" + name + "`";
    const auto first = text.find(cell);
    REQUIRE(first != text.npos);
    CHECK(text.find(cell, first + 1) == text.npos);
  }
}

}  // namespace
}  // namespace muster::environment
