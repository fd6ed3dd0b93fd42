#include "tools/command/catalog/option.hpp"

#include <CLI/CLI.hpp>

namespace muster::catalogs {

CLI::Option* add_catalog_option(CLI::App& command, std::filesystem::path& library) {
  return command
      .add_option("--catalog", library,
                  "add the algorithms of this shared library, see docs/own-algorithm.md")
      ->type_name("FILE.so");
}

}  // namespace muster::catalogs
