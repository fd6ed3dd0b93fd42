#include "tools/command/catalog/catalog.hpp"

#include <span>
#include <stdexcept>
#include <string>

#include "algos/catalog.hpp"
#include "tools/command/catalog/rows.hpp"

namespace muster::catalogs {
namespace {

std::optional<shared_library> load(const std::filesystem::path& file) {
  if (file.empty()) return std::nullopt;
  try {
    shared_library one(file);
    require_complete(one.rows(), file.string());
    require_own_names(one.rows(), algos::catalog(), file.string());
    return one;
  } catch (const std::runtime_error& why) {
    throw std::runtime_error(std::string("--catalog: ") + why.what());
  }
}

}  // namespace

extended_catalog::extended_catalog(const std::filesystem::path& library) : library_(load(library)) {
  if (!library_) return;
  const catalog own = algos::catalog();
  rows_.assign(own.begin(), own.end());
  rows_.insert(rows_.end(), library_->rows().begin(), library_->rows().end());
}

catalog extended_catalog::rows() const noexcept {
  return library_ ? catalog(rows_) : algos::catalog();
}

catalog extended_catalog::added() const noexcept {
  return library_ ? catalog(std::span(rows_).subspan(algos::catalog().size())) : catalog();
}

}  // namespace muster::catalogs
