#include "tools/report/lines.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace muster::report {
namespace {

using nlohmann::ordered_json;

TEST_CASE("lines: an object a line in an array of them") {
  CHECK(in_lines(ordered_json::parse(R"([{"a": 1, "b": [1, 2]}, {"a": 2}])")) ==
        "[\n {\"a\":1,\"b\":[1,2]},\n {\"a\":2}\n]\n");
}

TEST_CASE("lines: members of what has objects in it have lines of their own") {
  CHECK(in_lines(ordered_json::parse(R"({"a": 1, "of": {"b": 2, "c": []}, "d": [{"e": {}}]})")) ==
        "{\n \"a\": 1,\n \"of\": {\"b\":2,\"c\":[]},\n \"d\": [\n  {\n   \"e\": {}\n  }\n ]\n}\n");
}

TEST_CASE("lines: nothing takes one") {
  CHECK(in_lines(ordered_json::array()) == "[]\n");
  CHECK(in_lines(ordered_json(3)) == "3\n");
}

}  // namespace
}  // namespace muster::report
