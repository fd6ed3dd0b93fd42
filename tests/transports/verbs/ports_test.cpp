// Which RDMA ports of a machine are used: those that are named, or the best.

#include "transports/verbs/ports.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/harness/failure.hpp"
#include "transports/verbs/fabric.hpp"
#include "transports/verbs/nearness.hpp"
#include "transports/verbs/port_choice.hpp"

namespace muster::testing {
namespace {

verbs::gid_entry entry(const char* text, std::uint32_t index) {
  verbs::gid_entry made{.index = index, .kind = verbs::gid_kind::roce_v2};
  REQUIRE(::inet_pton(AF_INET6, text, made.gid.data()) == 1);
  return made;
}

/// Active, with a link's own GID and an IPv4 address.
verbs::device_port port_of(const char* device, std::uint32_t speed = 100000, int distance = 10) {
  verbs::device_port made;
  made.device = made.card = device;
  made.is_active = made.is_ethernet = true;
  made.state = "active";
  made.speed = speed;
  made.mtu = 3;
  made.gids = {entry("fe80::1", 0), entry("::ffff:10.0.0.1", 1)};
  made.pkeys = {0xffff};
  made.distance = distance;
  return made;
}

verbs::device_port second_port(verbs::device_port first) {
  first.number = 2;
  return first;
}

verbs::machine_ports machine_with(std::initializer_list<verbs::device_port> ports) {
  verbs::machine_ports made;
  made.ports = ports;
  return made;
}

/// "mlx5_0:1 mlx5_1:1", by both of what is told and what is kept.
std::string names_of(const verbs::found_ports& found) {
  std::string text;
  REQUIRE(found.told.count == found.ports.size());
  for (std::size_t i = 0; i < found.ports.size(); ++i) {
    const std::string name = found.ports[i].device + ":" + std::to_string(found.ports[i].number);
    CHECK(found.told.rails[i].name.view() == name);
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

verbs::found_ports named(std::string_view text, const verbs::machine_ports& here) {
  return verbs::ports_named(verbs::parse_port_list(text), here);
}

std::string complaint_about(std::string_view text, const verbs::machine_ports& here) {
  const auto why = failure_of([&] { named(text, here); });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  return why->text();
}

TEST_CASE("a list of ports") {
  const auto all =
      verbs::parse_port_list("mlx5_0:1,mlx5_1,mlx5_2:2:gid=3,mlx5_3:pkey=0x8001:gid=0");
  REQUIRE(all.size() == 4);
  CHECK(all[0].device == "mlx5_0");
  CHECK(all[0].number == 1);
  CHECK(!all[0].gid_index);
  CHECK(all[1].number == 1);
  CHECK(all[2].text == "mlx5_2:2:gid=3");
  CHECK(all[2].number == 2);
  CHECK(all[2].gid_index == std::uint8_t{3});
  CHECK(all[3].pkey == std::uint16_t{0x8001});
  CHECK(all[3].gid_index == std::uint8_t{0});
  CHECK(verbs::parse_port_list("a:pkey=7fff").front().pkey == std::uint16_t{0x7fff});
}

TEST_CASE("a list that is none is refused, by its part") {
  for (const std::string_view wrong :
       {"", ",", "a,", ",a", ":1", "a:", "a:x", "a:1:", "a:256", "a:-1", "a:gid=", "a:gid=256",
        "a:gid=1x", "a:pkey=", "a:pkey=0x", "a:pkey=0x10000", "a:pkey=g", "a:1/3"}) {
    INFO(wrong);
    const auto why = failure_of([&] { verbs::parse_port_list(wrong); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(why->text().starts_with("MUSTER_VERBS_DEVICES: '"));
  }
}

TEST_CASE("what is told of a port") {
  auto here = machine_with({port_of("mlx5_0")});
  here.networks = {{entry("::ffff:10.0.0.1", 0).gid, 120}};
  const verbs::found_ports found = verbs::ports_chosen(here);
  REQUIRE(names_of(found) == "mlx5_0:1");
  const verbs::rail& told = found.told.rails[0];
  CHECK(told.gid == entry("::ffff:10.0.0.1", 1).gid);
  CHECK(told.bits == 120);
  CHECK(told.is_ethernet == 1);
  CHECK(told.roce == 2);
  CHECK(told.mtu == 3);
  CHECK(told.pkey == 0xffff);
  CHECK(told.speed == 100000);
  CHECK(found.told.is_chosen == 0);
  CHECK(found.ports[0].gid_index == 1);
  CHECK(found.ports[0].pkey_index == 0);
  CHECK(found.why_none.empty());
  CHECK(verbs::is_sane(found.told));
}

TEST_CASE("the nearest first, and none that is down, without address or much slower") {
  auto down = port_of("mlx5_3");
  down.is_active = false;
  auto without = port_of("mlx5_4");
  without.gids.clear();
  const auto here =
      machine_with({port_of("mlx5_0", 100000, 32), port_of("mlx5_1"), port_of("mlx5_2", 200000, 12),
                    down, without, port_of("rxe0", 10000)});
  CHECK(names_of(verbs::ports_chosen(here)) == "mlx5_1:1 mlx5_2:1 mlx5_0:1");
}

TEST_CASE("a card's second port behind the first ones of all") {
  const auto near = port_of("mlx5_0");
  auto function = port_of("mlx5_1");
  function.card = near.card;
  const auto here =
      machine_with({near, second_port(near), function, port_of("mlx5_2", 100000, 32)});
  CHECK(names_of(verbs::ports_chosen(here)) == "mlx5_0:1 mlx5_2:1 mlx5_0:2 mlx5_1:1");
}

TEST_CASE("no more than are told of") {
  verbs::machine_ports here;
  for (int i = 0; i < 10; ++i) {
    here.ports.push_back(port_of(("mlx5_" + std::to_string(i)).c_str()));
  }
  CHECK(verbs::ports_chosen(here).told.count == verbs::reach::most_rails);
  CHECK(complaint_about("mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7,mlx5_8", here)
            .find("'mlx5_8': a rank has 8 ports at most") != std::string::npos);
}

TEST_CASE("why there is none") {
  CHECK(verbs::ports_chosen({}).why_none == "this machine has no RDMA device");
  auto here = machine_with({port_of("mlx5_0")});
  here.ports[0].is_active = false;
  here.ports[0].state = "down";
  CHECK(verbs::ports_chosen(here).why_none == "no port is active: mlx5_0:1 (down)");
  here = machine_with({port_of("mlx5_0")});
  here.ports[0].gids.clear();
  CHECK(
      verbs::ports_chosen(here).why_none ==
      "no active port has a GID that leads to other machines, and a partition: mlx5_0:1 (active)");
  here.ports.clear();
  here.useless = {{"efa_0", "efa_0 speaks neither"}};
  CHECK(verbs::ports_chosen(here).why_none == "efa_0 speaks neither");
}

TEST_CASE("those that are named, in their order, each once") {
  const auto first = port_of("mlx5_0", 100000, 32);
  const auto here = machine_with({first, second_port(first), port_of("rxe0", 10000)});
  const auto found = named("rxe0,mlx5_0:2,mlx5_0,rxe0:1", here);
  CHECK(names_of(found) == "rxe0:1 mlx5_0:2 mlx5_0:1");
  CHECK(found.told.is_chosen == 1);
  CHECK(named("rxe0:gid=0", here).ports[0].gid_index == 0);
  CHECK(names_of(named("rxe0,rxe0:gid=0", here)) == "rxe0:1 rxe0:1");
}

TEST_CASE("one that is named and cannot be had: which, why, and what there is") {
  auto down = port_of("mlx5_1");
  down.is_active = false;
  down.state = "down";
  auto here = machine_with({port_of("mlx5_0"), down});
  here.useless = {{"efa_0", "efa_0 speaks neither"}};
  CHECK(complaint_about("mlx5_9", here) ==
        "MUSTER_VERBS_DEVICES: 'mlx5_9': this machine has no such RDMA device; there are: mlx5_0, "
        "mlx5_1");
  CHECK(complaint_about("mlx5_9", {}).ends_with("there are: none"));
  CHECK(complaint_about("mlx5_0:3", here).ends_with("no port 3; its ports are: 1"));
  CHECK(complaint_about("mlx5_1", here).ends_with("the port is down; active ones are: mlx5_0:1"));
  CHECK(complaint_about("mlx5_0:gid=7", here).ends_with("there are: 0 (fe80::1), 1 (10.0.0.1)"));
  CHECK(complaint_about("mlx5_0:pkey=0x8001", here).ends_with("its keys are: 0xffff"));
  CHECK(complaint_about("efa_0", here).ends_with("efa_0 speaks neither"));
}

TEST_CASE("the partition: a full member's before another, or the one that is wanted") {
  const std::vector<std::uint16_t> all{0x7fff, 0, 0x8001, 0x8002, 0x0003};
  CHECK(verbs::pkey_index(all, std::nullopt) == std::uint16_t{2});
  CHECK(verbs::pkey_index(all, std::uint16_t{0x8002}) == std::uint16_t{3});
  CHECK(verbs::pkey_index(all, std::uint16_t{0x0002}) == std::uint16_t{3});
  CHECK(verbs::pkey_index(all, std::uint16_t{0x8003}) == std::uint16_t{4});
  CHECK(verbs::pkey_index(all, std::uint16_t{0xffff}) == std::uint16_t{0});
  CHECK(!verbs::pkey_index(all, std::uint16_t{0x8000}));
  CHECK(!verbs::pkey_index({}, std::nullopt));
}

TEST_CASE("speeds as the system writes them") {
  CHECK(verbs::parse_rate("100 Gb/sec (4X EDR)") == 100000);
  CHECK(verbs::parse_rate("2.5 Gb/sec (1X SDR)") == 2500);
  for (const char* const wrong : {"", "100", "fast", "-1 Gb/sec", "100 Mb/sec"}) {
    CHECK(verbs::parse_rate(wrong) == 0);
  }
}

TEST_CASE("how near a node is") {
  CHECK(verbs::parse_numbers("0-2,8,10-11") == std::vector{0, 1, 2, 8, 10, 11});
  CHECK(verbs::parse_numbers("3") == std::vector{3});
  CHECK(verbs::parse_numbers("").empty());
  CHECK(verbs::parse_numbers("1,x,2") == std::vector{1});
  const std::vector distances{10, 12, 32};
  const std::vector nodes{0, 1, 4};
  CHECK(verbs::least_distance(distances, nodes, std::vector{1, 4}) == 12);
  CHECK(verbs::least_distance(distances, nodes, std::vector{4}) == 32);
  CHECK(verbs::least_distance(distances, nodes, {}) == verbs::nearest);
  CHECK(verbs::distance_to(-1) == verbs::nearest);
}

TEST_CASE("what this machine has") {
  const verbs::found_ports found = verbs::find_ports();
  CHECK(found.why_none.empty() == !found.ports.empty());
  CHECK(verbs::is_sane(found.told));
  names_of(found);
}

TEST_CASE("a variable that names what nobody has") {
  ::setenv("MUSTER_VERBS_DEVICES", "no_such_device", 1);
  const auto why = failure_of([] { verbs::find_ports(); });
  ::unsetenv("MUSTER_VERBS_DEVICES");
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  CHECK(why->text().starts_with("MUSTER_VERBS_DEVICES: 'no_such_device': "));
}

TEST_CASE("which fabric") {
  CHECK(verbs::fabric_asked_for() == verbs::fabric::automatic);
  const auto set_to = [](const char* text) {
    ::setenv("MUSTER_FABRIC", text, 1);
    return verbs::fabric_asked_for();
  };
  CHECK(set_to("auto") == verbs::fabric::automatic);
  CHECK(set_to("tcp") == verbs::fabric::tcp);
  CHECK(set_to("verbs") == verbs::fabric::verbs);
  for (const char* const wrong : {"", "TCP", "rdma"}) {
    const auto why = failure_of([&] { set_to(wrong); });
    REQUIRE(why);
    CHECK(why->text().starts_with("MUSTER_FABRIC is '"));
  }
  ::unsetenv("MUSTER_FABRIC");
}

}  // namespace
}  // namespace muster::testing
