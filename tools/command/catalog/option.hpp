// `--catalog`, on the command lines that have it.
#pragma once

#include <filesystem>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace muster::catalogs {

/// Adds it to a command; what it names goes to `library`, see `extended_catalog`.
CLI::Option* add_catalog_option(CLI::App& command, std::filesystem::path& library);

}  // namespace muster::catalogs
