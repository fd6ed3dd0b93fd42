// Which of two machines' RDMA ports belong together.

#include "transports/verbs/rails.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace muster::testing {
namespace {

constexpr std::uint16_t everybody = 0xffff;

/// RoCE v2, unless it is said otherwise.
verbs::rail rail_at(const char* gid, std::uint8_t bits, std::uint32_t speed = 100000,
                    const char* name = "mlx5_0:1") {
  verbs::rail made{.pkey = everybody,
                   .is_ethernet = 1,
                   .roce = 2,
                   .mtu = 3,
                   .bits = bits,
                   .speed = speed,
                   .name = std::string_view(name)};
  REQUIRE(::inet_pton(AF_INET6, gid, made.gid.data()) == 1);
  return made;
}

verbs::rail infiniband(const char* gid, std::uint16_t pkey = everybody) {
  verbs::rail made = rail_at(gid, 64);
  made.is_ethernet = made.roce = 0;
  made.lid = 7;
  made.pkey = pkey;
  return made;
}

verbs::reach machine_with(std::initializer_list<verbs::rail> all) {
  verbs::reach made;
  for (const verbs::rail& each : all) made.rails[made.count++] = each;
  return made;
}

verbs::reach chosen(verbs::reach one) {
  one.is_chosen = 1;
  return one;
}

/// "0>1 1>0": this machine's rails, and which of the other's they lead to.
std::string text_of(const verbs::paths& all, const verbs::reach& theirs) {
  std::string text;
  for (const verbs::path& each : all) {
    std::size_t other = 0;
    while (theirs.rails[other].gid != each.to.gid) ++other;
    text += (text.empty() ? "" : " ") + std::to_string(each.rail) + ">" + std::to_string(other);
  }
  return text;
}

/// As the first machine sees it; the second one sees the same from its side.
std::string between(const verbs::reach& first, const verbs::reach& second) {
  const verbs::paths there = verbs::paths_between(first, second, true);
  const verbs::paths back = verbs::paths_between(second, first, false);
  REQUIRE(there.size() == back.size());
  for (std::size_t i = 0; i < there.size(); ++i) {
    CHECK(there[i].to.gid == second.rails[back[i].rail].gid);
    CHECK(back[i].to.gid == first.rails[there[i].rail].gid);
  }
  return text_of(there, second);
}

TEST_CASE("rails of one network belong together, in whatever order each machine has them") {
  const auto first = machine_with(
      {rail_at("::ffff:10.0.0.1", 120), rail_at("::ffff:10.1.0.1", 120), rail_at("fd00::1", 64)});
  const auto second = machine_with(
      {rail_at("fd00::2", 64), rail_at("::ffff:10.0.0.2", 120), rail_at("::ffff:10.9.0.2", 120)});
  CHECK(between(first, second) == "0>1 2>0");
  CHECK(between(second, first) == "0>2 1>0");
}

TEST_CASE("several rails of one network: each once") {
  const auto first =
      machine_with({rail_at("::ffff:10.0.0.1", 120), rail_at("::ffff:10.0.0.2", 120)});
  const auto second =
      machine_with({rail_at("::ffff:10.0.0.3", 120), rail_at("::ffff:10.0.0.4", 120),
                    rail_at("::ffff:10.0.0.5", 120)});
  CHECK(between(first, second) == "0>0 1>1");
}

TEST_CASE("where two say different things of their network, what both say of less of it") {
  CHECK(between(machine_with({rail_at("::ffff:10.0.0.1", 128)}),
                machine_with({rail_at("::ffff:10.0.0.2", 120)})) == "0>0");
  CHECK(between(machine_with({rail_at("::ffff:10.0.0.1", 121)}),
                machine_with({rail_at("::ffff:10.0.0.129", 121)})) == "");
}

TEST_CASE("InfiniBand: one subnet and one partition") {
  const auto first = machine_with({infiniband("fe80::1"), infiniband("fec0:0:0:1::1")});
  CHECK(between(first, machine_with({infiniband("fec0:0:0:1::2"), infiniband("fe80::2")})) ==
        "0>1 1>0");
  CHECK(between(first, machine_with({infiniband("fec0:0:0:2::2")})) == "");
  CHECK(between(first, machine_with({infiniband("fe80::2", 0x8001)})) == "");
  CHECK(between(first, machine_with({infiniband("fe80::2", 0x7fff)})) == "0>0");
  CHECK(between(machine_with({infiniband("fe80::1", 0x7fff)}),
                machine_with({infiniband("fe80::2", 0x7fff)})) == "");
}

TEST_CASE("links and versions that do not understand each other") {
  const auto first = chosen(machine_with({rail_at("::ffff:10.0.0.1", 120)}));
  auto second = chosen(machine_with({rail_at("::ffff:10.0.0.2", 120)}));
  second.rails[0].roce = 1;
  CHECK(between(first, second) == "");
  CHECK(between(first, chosen(machine_with({infiniband("::ffff:10.0.0.2")}))) == "");
}

TEST_CASE("a port reaches itself") {
  const auto here = machine_with({rail_at("::ffff:10.0.0.1", 120), infiniband("fe80::1")});
  CHECK(between(here, here) == "0>0 1>1");
}

TEST_CASE("addresses of one link: ports of one name") {
  const auto first = machine_with(
      {rail_at("fe80::1", 64, 100000, "mlx5_0:1"), rail_at("fe80::2", 64, 100000, "mlx5_1:1")});
  const auto second = machine_with(
      {rail_at("fe80::3", 64, 100000, "mlx5_1:1"), rail_at("fe80::4", 64, 100000, "mlx5_2:1")});
  CHECK(between(first, second) == "1>0");
  CHECK(between(chosen(first), second) == "1>0");
  CHECK(between(first, machine_with({rail_at("fd00::1", 64, 100000, "mlx5_0:1")})) == "");
  const auto others = machine_with({rail_at("fe80::5", 64, 100000, "mlx5_3:1")});
  CHECK(between(first, others) == "");
  CHECK(between(chosen(first), chosen(others)) == "0>0");
}

TEST_CASE("with routers between them, those that both chose, in their order") {
  const auto first =
      machine_with({rail_at("::ffff:10.0.0.1", 128), rail_at("::ffff:10.1.0.1", 128)});
  const auto second =
      machine_with({rail_at("::ffff:10.0.0.2", 128), rail_at("::ffff:10.1.0.2", 128)});
  CHECK(between(first, second) == "");
  CHECK(between(chosen(first), second) == "");
  CHECK(between(chosen(first), chosen(second)) == "0>0 1>1");
}

TEST_CASE("a rail that is much slower is left out, unless it was chosen") {
  const auto first =
      machine_with({rail_at("::ffff:10.0.0.1", 120, 25000), rail_at("::ffff:10.1.0.1", 120)});
  const auto second =
      machine_with({rail_at("::ffff:10.0.0.2", 120), rail_at("::ffff:10.1.0.2", 120)});
  CHECK(between(first, second) == "1>1");
  CHECK(between(first, chosen(second)) == "0>0 1>1");
}

TEST_CASE("a machine without rails") {
  CHECK(between({}, machine_with({rail_at("::ffff:10.0.0.1", 120)})) == "");
  CHECK(between({}, {}) == "");
}

TEST_CASE("what cannot be what a rank says of itself") {
  const auto whole = machine_with({rail_at("::ffff:10.0.0.1", 120), infiniband("fe80::1")});
  CHECK(verbs::is_sane(whole));
  CHECK(verbs::is_sane({}));
  const auto refused = [&](auto change) {
    verbs::reach one = whole;
    change(one);
    return !verbs::is_sane(one);
  };
  CHECK(refused([](auto& one) { one.count = verbs::reach::most_rails + 1; }));
  CHECK(refused([](auto& one) { one.count = 3; }));  // the third is empty
  CHECK(refused([](auto& one) { one.is_chosen = 2; }));
  CHECK(refused([](auto& one) { one.rails[0].bits = 129; }));
  CHECK(refused([](auto& one) { one.rails[0].mtu = 0; }));
  CHECK(refused([](auto& one) { one.rails[0].mtu = 6; }));
  CHECK(refused([](auto& one) { one.rails[0].is_ethernet = 2; }));
  CHECK(refused([](auto& one) { one.rails[0].roce = 0; }));
  CHECK(refused([](auto& one) { one.rails[1].roce = 1; }));
  CHECK(refused([](auto& one) { one.rails[1].gid = {}; }));
}

}  // namespace
}  // namespace muster::testing
