// Which rails a machine has, and which of two machines' rails belong together.

#include "transports/tcp/rails.hpp"

#include <doctest/doctest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>

#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"
#include "transports/tcp/interfaces.hpp"

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

/// So many addresses' interfaces carry something, which they do a moment after they are joined.
bool run_soon(std::size_t addresses) {
  const auto is_one = [](const tcp::interface_address& each) {
    return each.at.storage.ss_family == AF_INET && (each.flags & IFF_RUNNING) != 0;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto count = static_cast<std::ptrdiff_t>(addresses);
  while (std::ranges::count_if(tcp::interface_addresses(), is_one) < count) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Runs `body` in a network of its own, with so many pairs of interfaces, `p0` joined with `q0` at
/// 10.0.0.1 and 10.0.0.2 and so on. False: there is no such network to be had.
template <class Body>
bool with_pairs_of_interfaces(std::size_t pairs, Body body) {
  bool is_made = false;
  std::jthread within([&] {  // the network is this thread's alone
    if (::unshare(CLONE_NEWNET) != 0) return;
    std::string commands;
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::string number = std::to_string(i);
      commands += "link add p" + number + " type veth peer name q" + number + "\n";
      for (const auto& [end, host] : {std::pair("p", ".1"), std::pair("q", ".2")}) {
        commands += "address add 10.0." + number + host + "/24 dev " + end + number + "\n";
        commands += "link set " + (end + number) + " up\n";
      }
    }
    const std::string all = "printf '" + commands + "' | ip -batch -";
    is_made = std::system(all.c_str()) == 0 && run_soon(2 * pairs);
    if (is_made) body();
  });
  within.join();
  return is_made;
}

TEST_CASE("more rails than there can be: those found are left out, those named refused") {
  const tcp::address usual = tcp::address::resolve("10.0.1.1", 0);
  const auto found_of = [&](const char* named) -> std::string {
    ::setenv("MUSTER_INTERFACES", named, 1);
    std::size_t count = 0;
    const auto why = failure_of([&] { count = tcp::find_rails(usual).count; });
    ::unsetenv("MUSTER_INTERFACES");
    if (!why) return std::to_string(count) + " rails";
    return why->code() == errc::invalid_argument ? why->text() : "another code";
  };
  REQUIRE(with_pairs_of_interfaces(5, [&] {
    const tcp::reach found = tcp::find_rails(usual);
    CHECK(found.count == 8);
    CHECK(found.rails[0].at().host_text() == "10.0.1.1");
    CHECK(found_of("p0,p1,p2,p3,p4,q0,q1,q2") == "8 rails");
    CHECK(found_of("p0,p1,p2,p3,p4,q0,q1,q2,q3") ==
          "MUSTER_INTERFACES is 'p0,p1,p2,p3,p4,q0,q1,q2,q3': these are 9 ports; expected at most "
          "8");
    CHECK(found_of("10.0.0.0/8") ==
          "MUSTER_INTERFACES is '10.0.0.0/8': these are 10 ports; expected at most 8");
  }));
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
