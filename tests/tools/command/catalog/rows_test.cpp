#include "tools/command/catalog/rows.hpp"

#include <doctest/doctest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "algos/catalog.hpp"
#include "tests/support/says.hpp"
#include "tools/command/catalog/catalog.hpp"

namespace muster::catalogs {
namespace {

using testing::says;

/// Of Muster's own, with another name.
algorithm whole_row(std::string_view id) {
  algorithm row = algos::catalog()[0];
  row.id = id;
  return row;
}

template <class Body>
std::string complaint(Body body) {
  try {
    body();
  } catch (const std::runtime_error& why) {
    return why.what();
  }
  return "";
}

std::string complaint_about(const algorithm& row) {
  const std::array rows = {row};
  return complaint([&] { require_complete(rows, "mine.so"); });
}

TEST_CASE("rows: a whole one is taken, and all of Muster's own are") {
  CHECK(complaint_about(whole_row("mine")) == "");
  CHECK(complaint([] { require_complete(algos::catalog(), "muster"); }) == "");
}

TEST_CASE("rows: one that lacks something is named, with what it lacks") {
  algorithm row = whole_row("mine");
  row.run = nullptr;
  CHECK(says(complaint_about(row), "mine.so: barrier 'mine' has no `run`"));
  row = whole_row("mine");
  row.suits = nullptr;
  CHECK(says(complaint_about(row), "has no `suits`"));
  row = whole_row("mine");
  row.stages = nullptr;
  CHECK(says(complaint_about(row), "has no `stages`"));
  row = whole_row("mine");
  row.summary = {};
  CHECK(says(complaint_about(row), "has no `summary`"));
  CHECK(says(complaint([] { require_complete({}, "mine.so"); }), "its catalog is empty"));
}

TEST_CASE("rows: one that declares what it does not have is named") {
  algorithm row = whole_row("mine");
  row.formula = "n messages";
  row.costs = nullptr;
  CHECK(says(complaint_about(row), "has a `formula` but no `costs`"));
  row.formula = {};
  row.costs = [](const even_nodes&, const arguments&) { return node_cost{}; };
  CHECK(says(complaint_about(row), "has `costs` but no `formula`"));
  row = whole_row("mine");
  row.what = static_cast<collective>(99);
  CHECK(says(complaint_about(row), "row 0 ('mine') is for collective 99, which there is not"));
}

TEST_CASE("rows: an id is what a command line can have between commas and colons") {
  for (const char* id : {"", "auto", "a,b", "a:b", "a b", "ä"}) {
    CAPTURE(id);
    CHECK(says(complaint_about(whole_row(id)), "has the id '" + std::string(id) + "'"));
  }
}

TEST_CASE("rows: those that have the same name are both named") {
  const std::array twice = {whole_row("mine"), whole_row("mine")};
  CHECK(says(complaint([&] { require_own_names(twice, algos::catalog(), "mine.so"); }),
             "mine.so: two rows are barrier 'mine'"));
  const algorithm& own = algos::catalog()[0];
  const std::array namesake = {own};
  const std::string both =
      complaint([&] { require_own_names(namesake, algos::catalog(), "mine.so"); });
  CHECK(says(both, "has the id of an algorithm of Muster's own"));
  CHECK(says(both, std::string(own.summary)));
}

TEST_CASE("a catalog's stamp: another version is named beside this one") {
  catalog_stamp other;
  CHECK(complaint([&] { require_same_muster(other, "mine.so"); }) == "");
  other.version = {"0.0.9"};
  CHECK(says(complaint([&] { require_same_muster(other, "mine.so"); }),
             "mine.so: was compiled with Muster 0.0.9; expected " MUSTER_VERSION));
  other = {};
  other.layout[0] += 8;
  CHECK(says(complaint([&] { require_same_muster(other, "mine.so"); }), "other headers of Muster"));
  other = {};
  other.magic = {"something else"};
  CHECK(says(complaint([&] { require_same_muster(other, "mine.so"); }), "is no catalog of Muster"));
}

TEST_CASE("a catalog without a library is Muster's own") {
  const extended_catalog own;
  CHECK(own.rows().size() == algos::catalog().size());
  CHECK(own.added().size() == 0);
}

}  // namespace
}  // namespace muster::catalogs
