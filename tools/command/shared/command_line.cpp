#include "tools/command/shared/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace muster::bench {

std::string collective_names() {
  std::string text;
  for (const collective one : all_collectives) {
    text += (text.empty() ? "" : ", ") + std::string(name(one));
  }
  return text;
}

collective parse_collective(const std::string& name) {
  if (const auto what = collective_named(name)) return *what;
  throw std::invalid_argument(
      fmt::format("'{}' is not a collective; there are: {}", name, collective_names()));
}

std::string write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", path.string()));
  return std::filesystem::absolute(path).lexically_normal().string();
}

void require_writable(const std::filesystem::path& path, std::string_view option) {
  if (path.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const auto& looked_at = std::filesystem::exists(path) ? path : folder;
  if (access(looked_at.c_str(), W_OK) != 0) {
    throw std::runtime_error(fmt::format("{}: cannot write {}", option, path.string()));
  }
}

}  // namespace muster::bench
