// Which rails a machine has, and which of two machines' rails belong together.

#include "transports/tcp/rails.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "tests/harness/failure.hpp"

namespace muster::testing {
namespace {

struct network_interface {
  const char* host;
  std::uint8_t bits = 24;
  std::uint32_t speed = 0;
};

tcp::reach machine_with(std::initializer_list<network_interface> all) {
  tcp::reach made;
  for (const network_interface& each : all) {
    const tcp::address at = tcp::address::resolve(each.host, 0);
    tcp::rail& one = made.rails[made.count++];
    one = {.port = static_cast<std::uint16_t>(1000 + made.count),
           .family = static_cast<std::uint8_t>(at.bytes().size() == 4 ? 4 : 6),
           .bits = each.bits,
           .speed = each.speed};
    std::ranges::copy(at.bytes(), one.host.begin());
  }
  return made;
}

/// "0>10.0.0.2 1>10.1.0.2": rails, and where they lead.
std::string text_of(const tcp::paths& all) {
  std::string text;
  for (const tcp::path& each : all) {
    text += (text.empty() ? "" : " ") + std::to_string(each.rail) + ">" + each.to.host_text();
  }
  return text;
}

TEST_CASE("rails of one network belong together, in whatever order each machine has them") {
  const auto first = machine_with({{"10.0.0.1"}, {"10.1.0.1"}, {"10.9.0.1"}});
  const auto second = machine_with({{"10.1.0.2"}, {"10.0.0.2"}});
  CHECK(text_of(tcp::paths_between(first, second, true)) == "0>10.0.0.2 1>10.1.0.2");
  CHECK(text_of(tcp::paths_between(second, first, false)) == "1>10.0.0.1 0>10.1.0.1");
}

TEST_CASE("networks that end within a byte, and IPv6") {
  const auto first = machine_with({{"10.0.0.1", 25}, {"fd00::1", 64}});
  const auto second = machine_with({{"10.0.0.129", 25}, {"fd00::2", 64}});
  CHECK(text_of(tcp::paths_between(first, second, true)) == "1>fd00::2");
}

TEST_CASE("an address that both have is no way from one to the other") {
  const auto first = machine_with({{"172.17.0.1", 16}, {"10.0.0.1"}});
  const auto second = machine_with({{"172.17.0.1", 16}, {"10.0.0.2"}});
  CHECK(text_of(tcp::paths_between(first, second, true)) == "1>10.0.0.2");
}

TEST_CASE("a rail that is much slower is left out, unless it was chosen") {
  auto first = machine_with({{"10.0.0.1", 24, 1000}, {"10.1.0.1", 24, 25000}});
  const auto second = machine_with({{"10.0.0.2", 24, 1000}, {"10.1.0.2", 24, 25000}});
  CHECK(text_of(tcp::paths_between(first, second, true)) == "1>10.1.0.2");
  first.is_chosen = 1;
  CHECK(text_of(tcp::paths_between(first, second, true)) == "0>10.0.0.2 1>10.1.0.2");
}

TEST_CASE("with routers between them, those that were chosen, in their order") {
  auto first = machine_with({{"10.0.0.1"}, {"10.1.0.1"}});
  auto second = machine_with({{"10.2.0.2"}, {"10.3.0.2"}});
  CHECK(text_of(tcp::paths_between(first, second, true)) == "0>10.2.0.2");
  first.is_chosen = second.is_chosen = 1;
  CHECK(text_of(tcp::paths_between(first, second, true)) == "0>10.2.0.2 1>10.3.0.2");
}

TEST_CASE("several connections on each rail: as many as the side that wants more") {
  const auto first = machine_with({{"10.0.0.1"}, {"10.1.0.1"}});
  auto second = machine_with({{"10.0.0.2"}, {"10.1.0.2"}});
  second.connections = 2;
  CHECK(text_of(tcp::paths_between(first, second, true)) ==
        "0>10.0.0.2 1>10.1.0.2 0>10.0.0.2 1>10.1.0.2");
}

TEST_CASE("what was chosen, one of each port") {
  ::setenv("MUSTER_INTERFACES", "127.0.0.1,::1,lo", 1);
  const tcp::reach found = tcp::find_rails(tcp::address::resolve("127.0.0.1", 0));
  ::unsetenv("MUSTER_INTERFACES");
  REQUIRE(found.count == 1);
  CHECK(found.rails[0].at().host_text() == "127.0.0.1");
  CHECK(found.is_chosen == 1);
}

TEST_CASE("how many connections: a number that can be") {
  const tcp::address here = tcp::address::resolve("127.0.0.1", 0);
  for (const char* const wrong : {"", "0", "17", "two", "2 "}) {
    INFO(wrong);
    ::setenv("MUSTER_CONNECTIONS", wrong, 1);
    const auto why = failure_of([&] { tcp::find_rails(here); });
    REQUIRE(why);
    CHECK(why->text().find("MUSTER_CONNECTIONS") != std::string::npos);
  }
  ::setenv("MUSTER_CONNECTIONS", "4", 1);
  CHECK(tcp::find_rails(here).connections == 4);
  ::unsetenv("MUSTER_CONNECTIONS");
}

}  // namespace
}  // namespace muster::testing
