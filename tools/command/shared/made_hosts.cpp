#include "tools/command/shared/made_hosts.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

namespace muster::made_hosts {
namespace {

std::filesystem::path self() { return std::filesystem::canonical("/proc/self/exe"); }

}  // namespace

bool have_rdma() {
  const char* const fabric = environment::read(environment::fabric);
  return fabric != nullptr && std::string_view(fabric) == "verbs";
}

std::vector<std::size_t> spread(std::size_t ranks, std::size_t hosts) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < hosts; ++i) {
    all.push_back((i + 1) * ranks / hosts - i * ranks / hosts);
  }
  return all;
}

std::string list(std::size_t ranks, std::size_t hosts) {
  std::string text;
  std::size_t host = 0;
  for (const std::size_t slots : spread(ranks, hosts)) {
    if (slots != 0) {
      text += (text.empty() ? "h" : ",h") + std::to_string(host) + ":" + std::to_string(slots);
    }
    ++host;
  }
  return text;
}

std::filesystem::path script() {
  const auto folder = self().parent_path();
  const auto built = folder / "run/muster-hosts";
  return std::filesystem::exists(built) ? built : folder / "../libexec/muster/muster-hosts";
}

std::string remote_shell() { return script().string() + " --shell"; }

void run_self_among(const wanted& hosts, const std::vector<std::string>& arguments) {
  const std::string file = script().string();
  std::vector<std::string> words = {file};
  if (!hosts.link_rate.empty()) words.insert(words.end(), {"--rate", hosts.link_rate});
  words.insert(words.end(), {std::to_string(hosts.count), self().string()});
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  ::execv(file.c_str(), all.data());
  throw error(errc::resource, "cannot make hosts with " + file + ": " + std::strerror(errno));
}

void run_again_among(const wanted& hosts) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  words.erase(words.begin());
  words.emplace_back(inside);
  run_self_among(hosts, words);
}

std::filesystem::path write_remote_shell(const std::filesystem::path& folder) {
  const auto file = folder / "remote-shell";
  std::ofstream(file) << "#!/bin/sh\nexec '" << script().string() << "' --rsh \"$@\"\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

}  // namespace muster::made_hosts
