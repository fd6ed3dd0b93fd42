// Which of a machine's addresses are meant, and which ports.

#include "transports/tcp/interfaces.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"

namespace muster::testing {
namespace {

std::string complaint_about(std::string_view interfaces) {
  const auto why = failure_of([&] { tcp::addresses_named(interfaces); });
  REQUIRE(why);
  return why->text();
}

TEST_CASE("interfaces, networks and addresses") {
  CHECK(tcp::addresses_named("lo").front().at.host_text() == "127.0.0.1");
  CHECK(tcp::addresses_named("127.0.0.1").front().at.host_text() == "127.0.0.1");
  CHECK(tcp::addresses_named("127.0.0.0/8").size() == 1);
  CHECK(tcp::addresses_named("127.0.0.0/8,lo,127.0.0.1").front().at.host_text() == "127.0.0.1");
  CHECK(tcp::addresses_named("0.0.0.0/0,127.0.0.1").size() >= 1);
}

TEST_CASE("what is none of these is refused, by name") {
  CHECK(complaint_about("eth99").find("'eth99'") != std::string::npos);
  CHECK(complaint_about("127.0.0.0/33").find("'127.0.0.0/33'") != std::string::npos);
  CHECK(complaint_about("2001:db8::/32").find("no such address") != std::string::npos);
}

TEST_CASE("ports") {
  CHECK(tcp::parse_ports("20000-20999").first == 20000);
  CHECK(tcp::parse_ports("20000-20999").last == 20999);
  CHECK(tcp::parse_ports("20000").last == 20000);
  for (const char* const wrong : {"", "0", "20000-", "-3", "3-2", "65536", "a", "1-2-3"}) {
    INFO(wrong);
    CHECK(failure_of([&] { tcp::parse_ports(wrong); }));
  }
}

TEST_CASE("a port that is taken is left out") {
  const tcp::address anywhere = tcp::address::resolve("127.0.0.1", 0);
  const tcp::listener first = tcp::listen_at(anywhere);
  const std::uint16_t taken = first.at.port();
  ::setenv("MUSTER_PORTS", (std::to_string(taken) + "-" + std::to_string(taken + 5)).c_str(), 1);
  ::setenv("MUSTER_INTERFACES", "127.0.0.1", 1);
  const tcp::listener second = tcp::listen_as_asked(anywhere);
  ::unsetenv("MUSTER_PORTS");
  ::unsetenv("MUSTER_INTERFACES");
  CHECK(second.at.port() > taken);
  CHECK(second.at.port() <= taken + 5);
}

TEST_CASE("where no port is free, that is said, with the ports") {
  const tcp::address anywhere = tcp::address::resolve("127.0.0.1", 0);
  const tcp::listener first = tcp::listen_at(anywhere);
  const std::string taken = std::to_string(first.at.port());
  for (const std::string& ports : {taken, taken + "-" + taken}) {
    ::setenv("MUSTER_PORTS", ports.c_str(), 1);
    const auto why =
        failure_of([&] { tcp::listen_at_some_port(anywhere, tcp::listening_for::connections); });
    ::unsetenv("MUSTER_PORTS");
    REQUIRE(why);
    CHECK(why->code() == errc::bootstrap);
    CHECK(why->text().find("no port of MUSTER_PORTS=" + ports + " is free at 127.0.0.1") !=
          std::string::npos);
  }
}

TEST_CASE("how long a rank may be silent: seconds, up to a million") {
  using namespace std::chrono_literals;
  const auto asked_for = [](const char* text) {
    ::setenv("MUSTER_TIMEOUT", text, 1);
    return tcp::timeout_asked_for();
  };
  CHECK(asked_for("0") == 0ms);
  CHECK(asked_for("0.0001") == 1ms);  // 0 is never
  CHECK(asked_for("1000000") == 1'000'000s);
  for (const char* const wrong :
       {"1000000.1", "1000001", "1e7", "-0.1", "-1", "inf", "nan", "1e999", "", "ten", "10 s"}) {
    INFO(wrong);
    const auto why = failure_of([&] { asked_for(wrong); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(why->text().find("expected seconds") != std::string::npos);
  }
  ::unsetenv("MUSTER_TIMEOUT");
  CHECK(tcp::timeout_asked_for() == 10s);
}

TEST_CASE("IPv6") {
  const tcp::address at = tcp::address::resolve("::1", 0);
  const tcp::listener made = tcp::listen_at(at);
  CHECK(made.at.text() == "[::1]:" + std::to_string(made.at.port()));
}

}  // namespace
}  // namespace muster::testing
