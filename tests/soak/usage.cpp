#include "tests/soak/usage.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace muster::testing {

usage usage_now() {
  std::ifstream status("/proc/self/status");
  usage all;
  for (std::string word; status >> word;) {
    if (word == "RssAnon:") status >> all.own;
    if (word == "RssShmem:") status >> all.shared;
    if (word == "Threads:") status >> all.threads;
  }
  using open_files = std::filesystem::directory_iterator;
  all.descriptors = static_cast<std::size_t>(std::distance(open_files("/proc/self/fd"), {}));
  return all;
}

}  // namespace muster::testing
