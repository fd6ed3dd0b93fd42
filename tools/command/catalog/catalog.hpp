// The catalog that a command works with: Muster's own, and what its user adds to it.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <muster/select/catalog.hpp>

#include "tools/command/catalog/library.hpp"

namespace muster::catalogs {

/// Muster's own rows and, behind them, those of a shared library: they run where they are asked
/// for, and what Muster chooses by itself stays as it is. Its copies' rows are at other places.
class extended_catalog {
public:
  /// \param library empty: none
  /// \throws std::runtime_error that begins with `--catalog: ` and names the file, where it cannot
  /// be loaded, or a row lacks something or has the name of another.
  explicit extended_catalog(const std::filesystem::path& library = {});

  /// Muster's own catalog itself, where there is no library.
  catalog rows() const noexcept;
  /// Those of the library; none without one.
  catalog added() const noexcept;

private:
  std::optional<shared_library> library_;
  std::vector<algorithm> rows_;  ///< Muster's, then the library's; none without one
};

}  // namespace muster::catalogs
