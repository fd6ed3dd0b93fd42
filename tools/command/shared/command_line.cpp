#include "tools/command/shared/command_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <muster/environment/environment.hpp>

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

CLI::Option* add_fabric_option(CLI::App& command) {
  return command
      .add_option_function<std::string>(
          "--fabric",
          [](const std::string& name) { ::setenv(environment::fabric.name, name.c_str(), 1); },
          "by what ranks of different hosts talk: auto, tcp or verbs (default: as MUSTER_FABRIC "
          "says)")
      ->check(CLI::IsMember({"auto", "tcp", "verbs"}))
      ->type_name("NAME");
}

CLI::Option* add_link_rate_option(CLI::App& command, std::string& rate) {
  return command
      .add_option("--link-rate", rate,
                  "with --hosts-made: what each host sends and receives at most, as in 1gbit")
      ->type_name("RATE");
}

json_output::json_output(std::filesystem::path path) : path_(std::move(path)) {
  if (path_ != "-") {
    require_writable(path_, "--json");
    return;
  }
  std::fflush(stdout);
  output_ = descriptor(dup(STDOUT_FILENO));
  if (!output_ || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::runtime_error("--json: cannot write standard output");
  }
}

void json_output::write(const std::string& json) {
  if (path_.empty()) return;
  if (!output_) {
    fmt::print("json: {}\n", write_file(path_, json));
    return;
  }
  for (std::string_view left = json; !left.empty();) {
    const ssize_t written = ::write(output_.get(), left.data(), left.size());
    if (written < 0) throw std::runtime_error("--json: cannot write standard output");
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace muster::bench
