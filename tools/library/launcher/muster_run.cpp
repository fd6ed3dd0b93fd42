#include "tools/library/launcher/muster_run.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

#include "tools/library/launcher/key_file.hpp"
#include "tools/library/launcher/words.hpp"

namespace muster::launcher {
namespace {

constexpr std::string_view launched = "rendezvous,";
constexpr std::string_view at_first = "first,";
constexpr std::string_view again = "again,";

/// \param key_at the descriptor of a file of the key's bytes
std::string text_for(const meeting& one, int key_at) {
  std::string text;
  for (const std::size_t number :
       {one.rank, one.size, one.machine.value_or(one.rank), static_cast<std::size_t>(key_at)}) {
    text += std::to_string(number) + ",";
  }
  const std::string& host = one.place.hosts.front();
  const bool is_ipv6 = host.find(':') != std::string::npos;
  text += is_ipv6 ? "[" + host + "]" : host;
  return text + ":" + std::to_string(one.place.port);
}

meeting parse_meeting(std::string_view text, const std::string& name) {
  meeting one;
  one.rank_0_serves = false;
  one.rank = parse_number(next_part(text, ','), name);
  one.size = parse_number(next_part(text, ','), name);
  one.machine = parse_number(next_part(text, ','), name);
  const descriptor key(static_cast<int>(parse_number(next_part(text, ','), name)));
  parse_place(text, name, one.place);
  const std::vector<std::byte> bytes = contents_of(key.get());
  if (bytes.size() != sizeof one.place.key.bytes) {
    throw error(errc::bootstrap, name + " names no file with a key");
  }
  std::memcpy(one.place.key.bytes.data(), bytes.data(), bytes.size());
  check(one);
  return one;
}

}  // namespace

std::optional<meeting> meet_by_muster_run() {
  const char* const set = environment::read(environment::job);
  if (set == nullptr || !std::string_view(set).starts_with(launched)) return std::nullopt;
  const std::string kept(set);
  const std::size_t end = kept.find(';');
  if (end == std::string::npos) {
    throw error(errc::bootstrap, "MUSTER_JOB says nothing of this machine");
  }
  ::setenv(environment::job.name, kept.c_str() + end + 1, 1);
  meeting one = parse_meeting(std::string_view(kept).substr(0, end).substr(launched.size()),
                              environment::job.name);
  one.has_memory = true;
  return one;
}

std::string text_for_launched(const meeting& one, int key_at, const std::string& here) {
  return std::string(launched) + text_for(one, key_at) + ";" + here;
}

bool is_started_again(std::string_view text) noexcept { return text.starts_with(again); }

std::optional<reunion> find_reunion() {
  const char* const set = environment::read(environment::respawn);
  if (set == nullptr) return std::nullopt;
  const std::string_view text(set);
  const bool started_again = is_started_again(text);
  if (!started_again && !text.starts_with(at_first)) {
    throw error(errc::bootstrap, std::string(environment::respawn.name) + " is '" + set +
                                     "'; expected what `muster run --respawn` sets, or nothing");
  }
  reunion found{parse_meeting(text.substr(text.find(',') + 1), environment::respawn.name),
                started_again};
  found.at.place.patience = reunion::patience;
  // The key's descriptor is closed, and its number may be another's soon.
  ::setenv(environment::respawn.name, std::string(started_again ? again : at_first).c_str(), 1);
  return found;
}

std::string text_for_reunion(const reunion& one, int key_at) {
  return std::string(one.started_again ? again : at_first) + text_for(one.at, key_at);
}

}  // namespace muster::launcher
