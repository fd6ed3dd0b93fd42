#include "tools/command/catalog/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster::catalogs {
namespace {

constexpr const char* symbol = "muster_catalog";
constexpr std::string_view declaration =
    "extern \"C\" const muster::catalog* muster_catalog() noexcept";

std::shared_ptr<void> load(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    throw std::runtime_error(
        fmt::format("{}: there is no such file; expected a shared library", file.string()));
  }
  // Of a bare name the system's folders would be searched.
  void* const handle = ::dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    throw std::runtime_error(
        fmt::format("{}: cannot be loaded: {}; expected a shared library, compiled with the "
                    "headers of this Muster, {}",
                    file.string(), why == nullptr ? "nobody says why" : why, version));
  }
  return {handle, [](void* one) { ::dlclose(one); }};
}

const muster::catalog* catalog_of(void* handle, const std::filesystem::path& file) {
  void* const found = ::dlsym(handle, symbol);
  if (found == nullptr) {
    throw std::runtime_error(
        fmt::format("{}: exports no {}; expected {}", file.string(), symbol, declaration));
  }
  const muster::catalog* const rows = reinterpret_cast<decltype(&muster_catalog)>(found)();
  if (rows == nullptr) {
    throw std::runtime_error(
        fmt::format("{}: {} gave null; expected a catalog", file.string(), symbol));
  }
  return rows;
}

std::string_view text_of(const std::array<char, 24>& padded) {
  return {padded.data(), std::ranges::find(padded, '\0')};
}

}  // namespace

void require_same_muster(const catalog_stamp& made_by, const std::filesystem::path& file) {
  const catalog_stamp here;
  if (made_by.magic != here.magic) {
    throw std::runtime_error(fmt::format("{}: what {} gave is no catalog of Muster; expected {}",
                                         file.string(), symbol, declaration));
  }
  if (made_by.version != here.version) {
    throw std::runtime_error(
        fmt::format("{}: was compiled with Muster {}; expected {}, which this command is of: "
                    "compile it again with that one's headers",
                    file.string(), text_of(made_by.version), version));
  }
  if (made_by.layout != here.layout) {
    throw std::runtime_error(fmt::format(
        "{}: was compiled with other headers of Muster {}, in which an algorithm and its arguments "
        "take {} and {} bytes; expected {} and {}: compile it again with this command's headers",
        file.string(), version, made_by.layout[0], made_by.layout[1], here.layout[0],
        here.layout[1]));
  }
}

shared_library::shared_library(const std::filesystem::path& file)
    : handle_(load(file)), rows_(catalog_of(handle_.get(), file)) {
  require_same_muster(rows_->made_by(), file);
}

}  // namespace muster::catalogs
