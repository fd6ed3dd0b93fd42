#include "tools/library/meeting.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

namespace muster {
namespace {

constexpr std::string_view launched = "rendezvous,";

[[noreturn]] void fail(const std::string& why) { throw error(errc::bootstrap, why); }

std::size_t parse_number(std::string_view text, const char* name,
                         std::size_t most = std::numeric_limits<std::uint32_t>::max()) {
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), value);
  if (code != std::errc{} || end != text.end() || value > most) {
    fail(std::string(name) + " is '" + std::string(text) + "'; expected a number up to " +
         std::to_string(most));
  }
  return value;
}

/// Muster's own variable, where it is set, or else another's. \param text of that; null: not set
std::size_t number_of(const environment::variable& own, const char* other, const char* text) {
  const char* const set = environment::read(own);
  if (set != nullptr) return parse_number(set, own.name);
  if (text != nullptr) return parse_number(text, other);
  fail(std::string(own.name) + " is not set");
}

/// "host:20000", "[fd00::1]:20000"
void parse_place(std::string_view text, cluster::meeting_place& into) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    fail("MUSTER_RENDEZVOUS is '" + std::string(text) + "'; expected host:port");
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  into.host = host;
  into.port = static_cast<std::uint16_t>(
      parse_number(text.substr(colon + 1), "the port of MUSTER_RENDEZVOUS", 65535));
}

std::vector<std::byte> contents_of(int file) {
  std::vector<std::byte> all;
  std::array<std::byte, 4096> piece;
  while (true) {
    const ssize_t got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(all.size()));
    if (got <= 0) return all;
    all.insert(all.end(), piece.begin(), piece.begin() + got);
  }
}

tcp::job_key key_in_environment() {
  const char* const name = environment::read(environment::key_file);
  if (name == nullptr) {
    fail(
        "MUSTER_KEY_FILE is not set: a job on several machines needs a key that nobody else "
        "knows; expected the name of a file with at least 16 bytes, mode 0600");
  }
  const descriptor file(::open(name, O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) {
    fail(std::string("MUSTER_KEY_FILE is '") + name + "', which cannot be read");
  }
  if ((status.st_mode & 077) != 0 || status.st_uid != ::geteuid()) {
    fail(std::string("MUSTER_KEY_FILE is '") + name +
         "', which others can read; expected a file of this user, mode 0600");
  }
  const std::vector<std::byte> secret = contents_of(file.get());
  constexpr std::size_t least = 16;
  if (secret.size() < least) {
    fail(std::string("MUSTER_KEY_FILE is '") + name + "', of " + std::to_string(secret.size()) +
         " bytes; expected at least 16");
  }
  return tcp::job_key::from(secret);
}

void check(const meeting& one) {
  if (one.size != 0 && one.rank < one.size) return;
  fail("rank " + std::to_string(one.rank) + " of " + std::to_string(one.size) +
       " ranks cannot be; expected a rank below their number");
}

std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(','));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

}  // namespace

std::optional<meeting> meeting_of_launcher() {
  const char* const set = environment::read(environment::job);
  if (set == nullptr || !std::string_view(set).starts_with(launched)) return std::nullopt;
  const std::string kept(set);
  const std::size_t end = kept.find(';');
  if (end == std::string::npos) fail("MUSTER_JOB says nothing of this machine");
  ::setenv(environment::job.name, kept.c_str() + end + 1, 1);
  std::string_view text = std::string_view(kept).substr(0, end).substr(launched.size());
  meeting one;
  one.rank_0_serves = false;
  one.rank = parse_number(next_word(text), environment::job.name);
  one.size = parse_number(next_word(text), environment::job.name);
  one.machine = parse_number(next_word(text), environment::job.name);
  const descriptor key(static_cast<int>(parse_number(next_word(text), environment::job.name)));
  parse_place(text, one.place);
  const std::vector<std::byte> bytes = contents_of(key.get());
  if (bytes.size() != sizeof one.place.key.bytes) fail("MUSTER_JOB names no file with a key");
  std::memcpy(one.place.key.bytes.data(), bytes.data(), bytes.size());
  check(one);
  return one;
}

std::string text_for_launched(const meeting& one, int key_at, const std::string& here) {
  std::string text(launched);
  for (const std::size_t number :
       {one.rank, one.size, one.machine.value_or(one.rank), static_cast<std::size_t>(key_at)}) {
    text += std::to_string(number) + ",";
  }
  const bool is_ipv6 = one.place.host.find(':') != std::string::npos;
  text += is_ipv6 ? "[" + one.place.host + "]" : one.place.host;
  return text + ":" + std::to_string(one.place.port) + ";" + here;
}

std::optional<meeting> meeting_in_environment() {
  const char* const rank = std::getenv("RANK");
  const char* const size = std::getenv("WORLD_SIZE");
  const char* const host = std::getenv("MASTER_ADDR");
  const char* const port = std::getenv("MASTER_PORT");
  meeting one;
  if (const char* const place = environment::read(environment::rendezvous)) {
    parse_place(place, one.place);
  } else if (rank != nullptr && size != nullptr && host != nullptr && port != nullptr) {
    // torchrun's own store listens at its port.
    one.place.host = host;
    one.place.port = static_cast<std::uint16_t>(parse_number(port, "MASTER_PORT", 65534) + 1);
  } else {
    return std::nullopt;
  }
  one.rank = number_of(environment::rank, "RANK", rank);
  one.size = number_of(environment::size, "WORLD_SIZE", size);
  check(one);
  one.place.key = key_in_environment();
  ::unsetenv(environment::rendezvous.name);
  ::unsetenv(environment::rank.name);
  return one;
}

}  // namespace muster
