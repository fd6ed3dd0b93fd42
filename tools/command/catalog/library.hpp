// A shared library that exports a catalog.
#pragma once

#include <filesystem>
#include <memory>

#include <muster/select/catalog.hpp>

namespace muster::catalogs {

/// Loads it, and keeps it loaded as long as a copy of this object lives.
class shared_library {
public:
  /// \throws std::runtime_error that names the file and what was expected, where it is not there,
  /// cannot be loaded, exports no `muster_catalog`, or was made with another Muster.
  explicit shared_library(const std::filesystem::path& file);

  const muster::catalog& rows() const noexcept { return *rows_; }

private:
  std::shared_ptr<void> handle_;
  const muster::catalog* rows_;
};

/// \throws std::runtime_error that names the file and both Musters, where they differ.
void require_same_muster(const catalog_stamp& made_by, const std::filesystem::path& file);

}  // namespace muster::catalogs
