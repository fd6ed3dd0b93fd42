// What launchers say, as values.

#include "tools/library/launcher/words.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include <muster/base/error.hpp>

#include "tools/library/launcher/pmi_wire.hpp"
#include "tools/library/launcher/slurm.hpp"

namespace muster::launcher {
namespace {

TEST_CASE("the first of Slurm's nodes") {
  CHECK(first_node_of("n7") == "n7");
  CHECK(first_node_of("n7,n8") == "n7");
  CHECK(first_node_of("n[003-017,20]") == "n003");
  CHECK(first_node_of("n[20]-ib,login") == "n20-ib");
  CHECK(first_node_of("rack[2-3]n[1,5],other") == "rack2n1");
  CHECK(first_node_of("a-b.c,d") == "a-b.c");
  CHECK(first_node_of("n[1") == "n1");
  CHECK(first_node_of("").empty());
}

TEST_CASE("steps side by side meet at different ports") {
  std::set<std::uint16_t> ports;
  for (const std::size_t job : {100, 101, 102}) {
    for (const std::size_t step : {0, 1, 2}) ports.insert(port_of_step(job, step));
  }
  CHECK(ports.size() == 9);
  CHECK(port_of_step(123456789, 4294967290) >= 20000);
}

TEST_CASE("places") {
  cluster::meeting_place place;
  parse_place("host:20000", "X", place);
  CHECK(place.hosts.front() == "host");
  CHECK(place.port == 20000);
  parse_place("[fd00::1]:1", "X", place);
  CHECK(place.hosts.front() == "fd00::1");
  for (const char* const wrong : {"host", ":1", "[]:1", "host:", "host:65536", "host:x"}) {
    CHECK_THROWS_AS(parse_place(wrong, "X", place), error);
  }
}

TEST_CASE("PMI's fields") {
  CHECK(pmi_field("cmd=get_result rc=0 msg=success value=a/b", "value") == "a/b");
  CHECK(pmi_field("cmd=put_result rc=0", "r").empty());
  CHECK(pmi_field("cmd=x;rc=0;value=q;", "value", ';') == "q");
}

}  // namespace
}  // namespace muster::launcher
