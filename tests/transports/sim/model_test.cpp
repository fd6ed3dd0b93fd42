// Machine models: what is read is what was written, and what is wrong is refused by name.

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/harness/failure.hpp"
#include "tests/transports/sim/run.hpp"
#include "transports/sim/model.hpp"

namespace muster::testing {
namespace {

void check_refused(std::string_view text, std::string_view why) {
  INFO(std::string(text));
  const auto refused = failure_of([&] { sim::parse_model(text, "mine.json"); });
  REQUIRE(refused);
  CHECK(refused->code() == errc::invalid_argument);
  INFO(refused->text());
  CHECK(says(refused->text(), "mine.json"));
  CHECK(says(refused->text(), why));
}

TEST_CASE("what is not a model") {
  check_refused("", "not JSON");
  check_refused("{\"name\": ", "not JSON");
  check_refused("[1, 2]", "expected a JSON object");
  check_refused("3", "expected a JSON object");
}

TEST_CASE("fields that no model has") {
  check_refused(R"({"colour": "red"})", "'colour'");
  check_refused(R"({"network": {"latency": 3}})", "'network.latency'");
  check_refused(R"({"net": {"latency_ns": 3}})", "'net.latency_ns'");
  check_refused(R"({"sources": {"network.latency": "me"}})", "'network.latency'");
}

TEST_CASE("values of the wrong kind") {
  check_refused(R"({"name": 3})", "name is not text");
  check_refused(R"({"description": {}})", "description is not text");
  check_refused(R"({"network": 3})", "network is not an object");
  check_refused(R"({"network": {"latency_ns": "3"}})", "network.latency_ns is \"3\"");
  check_refused(R"({"network": {"latency_ns": null}})", "expected a number");
  check_refused(R"({"network": {"rails": 1.5}})", "expected a whole number");
  check_refused(R"({"network": {"rails": -1}})", "expected a whole number");
  check_refused(R"({"network": {"moved_by": "hand"}})", "network.moved_by is \"hand\"");
  check_refused(R"({"network": {"moved_by": 1}})", "expected \"core\", \"nic\" or \"both\"");
  check_refused(R"({"sources": []})", "sources is not an object");
  check_refused(R"({"sources": {"network.latency_ns": 1}})", "is not text");
  check_refused(R"({"jitter": "much"})", "jitter is \"much\"");
}

TEST_CASE("values that are too small or too large") {
  check_refused(R"({"cluster": {"nodes": 0}})", "cluster.nodes is 0; expected from 1 to");
  check_refused(R"({"cluster": {"cores_a_node": 4294967296}})", "cluster.cores_a_node");
  check_refused(R"({"network": {"latency_ns": 1e300}})", "network.latency_ns");
  check_refused(R"({"network": {"latency_ns": 1e999}})", "mine.json: not JSON");
  check_refused(R"({"network": {"rails": 1000000}})", "network.rails");
  check_refused(R"({"cluster": {"cores_a_node": 0}})", "cluster.cores_a_node");
  check_refused(R"({"network": {"rails": 0}})", "network.rails");
  check_refused(R"({"network": {"latency_ns": -1}})", "network.latency_ns is -1");
  check_refused(R"({"network": {"bandwidth_gbs": 0}})", "network.bandwidth_gbs");
  check_refused(R"({"memory": {"core_copy_gbs": 0}})", "memory.core_copy_gbs");
  check_refused(R"({"core": {"switch_ns": -0.5}})", "core.switch_ns");
  check_refused(R"({"jitter": -0.1})", "jitter is -0.1; expected from 0 to");
}

TEST_CASE("files that cannot be read") {
  for (const char* file : {"/no/such/file.json", "/"}) {
    const auto refused = failure_of([&] { sim::read_model(file); });
    REQUIRE(refused);
    CHECK(refused->code() == errc::invalid_argument);
    CHECK(says(refused->text(), file));
  }
}

TEST_CASE("fields left out have defaults") {
  const sim::model of = sim::parse_model(R"({"network": {"rails": 2}})", "here");
  CHECK(of.network.rails == 2);
  CHECK(of.network.latency_ns == sim::model().network.latency_ns);
  CHECK(of.name.empty());
}

sim::model odd_model() {
  sim::model of;
  of.name = "odd";
  of.description = "nothing as usual";
  of.sources["network.latency_ns"] = "a guess";
  of.cluster.nodes = 7;
  of.network.latency_ns = 12.375;
  of.network.moved_by = sim::model::mover::both;
  of.network.core_push_to_bytes = 77;
  of.network.stripe_from_bytes = 1234;
  of.memory.cache_bytes = std::size_t{5} << 33;
  of.core.wake_ns = 1e-3;
  of.jitter = 0.25;
  return of;
}

TEST_CASE("a model written and read is the same") {
  for (const sim::model& of : {sim::model(), odd_model()}) {
    const std::string text = sim::to_json(of);
    const sim::model again = sim::parse_model(text, "itself");
    CHECK(sim::to_json(again) == text);
    CHECK(again.name == of.name);
    CHECK(again.sources == of.sources);
    CHECK(again.cluster.nodes == of.cluster.nodes);
    CHECK(again.network.latency_ns == of.network.latency_ns);
    CHECK(again.network.moved_by == of.network.moved_by);
    CHECK(again.network.stripe_from_bytes == of.network.stripe_from_bytes);
    CHECK(again.memory.cache_bytes == of.memory.cache_bytes);
    CHECK(again.jitter == of.jitter);
  }
}

TEST_CASE("a model in a file") {
  const char* folder = std::getenv("TEST_TMPDIR");
  const auto file = std::filesystem::path(folder != nullptr ? folder : "/tmp") / "odd.json";
  std::ofstream(file) << sim::to_json(odd_model());
  CHECK(sim::to_json(sim::read_model(file)) == sim::to_json(odd_model()));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace muster::testing
