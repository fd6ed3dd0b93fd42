#include "tools/library/launcher/private_channel.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>

#include "tools/library/launcher/words.hpp"
#include "transports/shm/handshake.hpp"
#include "transports/tcp/interfaces.hpp"

namespace muster::launcher {
namespace {

constexpr char separator = '/';
constexpr const char* refusal = "!";

/// By which rank 0 knows who can reach it through the loopback interface.
std::string name_of_this_machine() {
  const shm::handshake here = shm::describe_this_process();
  return std::string(here.machine.view()) + "-" + std::to_string(here.network);
}

std::string text_of(const tcp::job_key& key) {
  std::array<char, 2 * sizeof key.bytes + 1> text{};
  ::sodium_bin2hex(text.data(), text.size(), key.bytes.data(), key.bytes.size());
  return text.data();
}

tcp::job_key parse_key(std::string_view text) {
  tcp::job_key key;
  std::size_t got = 0;
  const int failed = ::sodium_hex2bin(key.bytes.data(), key.bytes.size(), text.data(), text.size(),
                                      nullptr, &got, nullptr);
  if (failed == 0 && got == key.bytes.size()) return key;
  throw error(errc::bootstrap, "what rank 0 said through the launcher begins with no key");
}

/// As a launcher's text may be.
std::string printable(std::string text) {
  constexpr std::size_t most = 500;
  for (char& letter : text) {
    if (letter == ';' || letter == '=' || letter < '!' || letter > '~') letter = '_';
  }
  return text.substr(0, most);
}

/// Where rank 0 serves by all of its addresses, or by the one that it was told to use.
meeting open_door() {
  meeting one;
  one.place.key = tcp::job_key::random();
  one.door = std::make_shared<tcp::listener>(tcp::listen_everywhere());
  one.place.port = one.door->at.port();
  for (const tcp::address& each : tcp::addresses_for(*one.door)) {
    one.place.hosts.push_back(each.host_text());
  }
  return one;
}

void accept(std::string_view invitation, meeting& into) {
  if (invitation.starts_with(refusal)) {
    throw error(errc::bootstrap, "rank 0: " + std::string(invitation.substr(1)), 0);
  }
  into.place.key = parse_key(next_part(invitation, separator));
  into.place.port = static_cast<std::uint16_t>(
      parse_number(next_part(invitation, separator), "rank 0's port", UINT16_MAX));
  const bool is_here = next_part(invitation, separator) == name_of_this_machine();
  if (is_here) into.place.hosts = {"127.0.0.1", "::1"};
  while (!invitation.empty()) {
    into.place.hosts.emplace_back(next_part(invitation, separator));
  }
}

}  // namespace

// KEY/PORT/MACHINE/ADDRESS/ADDRESS/…
std::string invitation_to(const meeting& one) {
  std::string text = text_of(one.place.key) + separator + std::to_string(one.place.port) +
                     separator + name_of_this_machine();
  // Of a machine that has very many, some will do; a launcher's text has an end.
  constexpr std::size_t most = 12;
  const std::size_t count = std::min(one.place.hosts.size(), most);
  for (std::size_t i = 0; i < count; ++i) text += separator + one.place.hosts[i];
  return text;
}

meeting meet_through(private_channel& all) {
  meeting one;
  if (all.rank() == 0) {
    try {
      one = open_door();
    } catch (const error& why) {
      all.hear_rank_0(refusal + printable(why.what()));  // nobody is to wait for it
      throw;
    }
    all.hear_rank_0(invitation_to(one));
    one.place.hosts = {one.door->at.local().host_text()};
  } else {
    accept(all.hear_rank_0({}), one);
  }
  one.rank = all.rank();
  one.size = all.size();
  check(one);
  return one;
}

}  // namespace muster::launcher
