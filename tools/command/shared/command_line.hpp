// What commands that measure collectives share on their command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include <muster/base/descriptor.hpp>

#include "tools/command/bench/measured.hpp"

namespace muster::bench {

/// CLI11 shows a CLI::ValidationError together with the option that it is about.
template <class Parse>
auto checked(Parse parse) {
  return [parse](const std::string& text) -> std::string {
    try {
      parse(text);
      return {};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
}

/// All collectives, with a comma and a space between them.
std::string collective_names();

/// Throws std::invalid_argument that lists the collectives there are.
collective parse_collective(const std::string& name);

/// Gives the file's whole path. Throws std::runtime_error.
std::string write_file(const std::filesystem::path& path, const std::string& text);

/// Found out before minutes are spent on measuring: throws std::runtime_error that names `option`
/// if there is a path and it cannot be written.
void require_writable(const std::filesystem::path& path, std::string_view option);

/// By what ranks of different hosts talk: sets MUSTER_FABRIC.
CLI::Option* add_fabric_option(CLI::App& command);
/// Slow links of made hosts.
CLI::Option* add_link_rate_option(CLI::App& command, std::string& rate);

/// Where a command writes the results that `--json` asks for: a file, or for `-` standard output.
/// There nothing else goes then: what the command prints from now on goes to standard error.
class json_output {
public:
  /// \param path empty: nowhere. \throws std::runtime_error if it cannot be written
  explicit json_output(std::filesystem::path path);

  /// Says where it is. \throws std::runtime_error
  void write(const std::string& json);

private:
  std::filesystem::path path_;
  descriptor output_;  // for `-`
};

}  // namespace muster::bench
