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
  std::string_view text = std::string_view(kept).substr(0, end).substr(launched.size());
  meeting one;
  one.rank_0_serves = false;
  one.rank = parse_number(next_part(text, ','), environment::job.name);
  one.size = parse_number(next_part(text, ','), environment::job.name);
  one.machine = parse_number(next_part(text, ','), environment::job.name);
  one.has_memory = true;
  const descriptor key(static_cast<int>(parse_number(next_part(text, ','), environment::job.name)));
  parse_place(text, environment::job.name, one.place);
  const std::vector<std::byte> bytes = contents_of(key.get());
  if (bytes.size() != sizeof one.place.key.bytes) {
    throw error(errc::bootstrap, "MUSTER_JOB names no file with a key");
  }
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
  const std::string& host = one.place.hosts.front();
  const bool is_ipv6 = host.find(':') != std::string::npos;
  text += is_ipv6 ? "[" + host + "]" : host;
  return text + ":" + std::to_string(one.place.port) + ";" + here;
}

}  // namespace muster::launcher
