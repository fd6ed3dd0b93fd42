// What the addresses of an RDMA port mean, and which of them others are told.

#include "transports/verbs/gids.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace muster::testing {
namespace {

using verbs::gid_kind;

verbs::gid_bytes gid_of(const std::string& text) {
  verbs::gid_bytes gid{};
  REQUIRE(::inet_pton(AF_INET6, text.c_str(), gid.data()) == 1);
  return gid;
}

verbs::gid_entry entry(const char* text, std::uint32_t index, gid_kind kind = gid_kind::roce_v2) {
  return {.gid = gid_of(text), .index = index, .kind = kind};
}

/// The index of the best; -1: none.
int best_of(const std::vector<verbs::gid_entry>& all,
            const std::vector<verbs::interface_network>& here = {}) {
  const auto best = verbs::best_gid(all, here);
  return best ? static_cast<int>(best->index) : -1;
}

TEST_CASE("kinds of addresses") {
  CHECK(verbs::is_ipv4(gid_of("::ffff:10.0.0.1")));
  CHECK(!verbs::is_ipv4(gid_of("::10.0.0.1")));
  CHECK(!verbs::is_ipv4(gid_of("fd00::1")));
  CHECK(verbs::is_link_local(gid_of("fe80::1")));
  CHECK(verbs::is_link_local(gid_of("febf::1")));
  CHECK(verbs::is_link_local(gid_of("::ffff:169.254.3.4")));
  CHECK(!verbs::is_link_local(gid_of("fec0::1")));
  CHECK(!verbs::is_link_local(gid_of("::ffff:169.253.3.4")));
  CHECK(verbs::is_zero(gid_of("::")));
  CHECK(verbs::text_of(gid_of("::ffff:10.0.0.1")) == "10.0.0.1");
  CHECK(verbs::text_of(gid_of("fe80::2")) == "fe80::2");
}

TEST_CASE("prefixes that end within a byte") {
  const auto one = gid_of("::ffff:10.0.0.1");
  const auto other = gid_of("::ffff:10.0.0.129");
  CHECK(verbs::share_prefix(one, other, 120));
  CHECK(!verbs::share_prefix(one, other, 121));
  CHECK(verbs::share_prefix(one, one, 128));
  CHECK(verbs::share_prefix(one, gid_of("fd00::"), 0));
}

TEST_CASE("IPv4 by RoCE v2 before IPv6, links' own last, and RoCE v1 behind all of them") {
  std::vector<verbs::gid_entry> all{
      entry("fe80::1", 0, gid_kind::roce_v1),
      entry("fe80::1", 1),
      entry("::ffff:10.0.0.1", 2, gid_kind::roce_v1),
      entry("fd00::1", 3),
      entry("::ffff:10.0.0.1", 4),
      entry("::ffff:10.0.0.2", 5),
  };
  for (const int best : {4, 5, 3, 1, 2, 0}) {
    CHECK(best_of(all) == best);
    std::erase_if(all, [&](const auto& one) { return static_cast<int>(one.index) == best; });
  }
  CHECK(best_of(all) == -1);
}

TEST_CASE("an address that an interface has here before those of other containers") {
  const std::vector<verbs::gid_entry> all{entry("::ffff:10.0.0.1", 1), entry("fd00::7", 2)};
  CHECK(best_of(all) == 1);
  CHECK(best_of(all, {{gid_of("fd00::7"), 64}}) == 2);
  CHECK(best_of(all, {{gid_of("fd00::7"), 64}, {gid_of("::ffff:10.0.0.1"), 120}}) == 1);
}

TEST_CASE("neither empty ones nor loopback; on InfiniBand the first") {
  CHECK(best_of({entry("::", 0), entry("::ffff:127.0.0.1", 1), entry("::1", 2)}) == -1);
  CHECK(best_of({entry("fe80::2", 0, gid_kind::infiniband),
                 entry("fec0::2", 1, gid_kind::infiniband)}) == 0);
}

TEST_CASE("how much of an address is its network's") {
  const std::vector<verbs::interface_network> here{{gid_of("::ffff:10.0.0.1"), 120},
                                                   {gid_of("fd00::1"), 48}};
  CHECK(verbs::network_bits(entry("::ffff:10.0.0.1", 0), here) == 120);
  CHECK(verbs::network_bits(entry("fd00::1", 0), here) == 48);
  CHECK(verbs::network_bits(entry("fd00::2", 0), here) == 128);
  CHECK(verbs::network_bits(entry("fe80::2", 0), here) == 64);
  CHECK(verbs::network_bits(entry("fe80::2", 0, gid_kind::infiniband), here) == 64);
}

TEST_CASE("this machine's interfaces, its own loopback among them") {
  const auto here = verbs::interface_networks();
  const auto found =
      std::ranges::find(here, gid_of("::ffff:127.0.0.1"), &verbs::interface_network::address);
  REQUIRE(found != here.end());
  CHECK(found->bits == 104);
}

}  // namespace
}  // namespace muster::testing
