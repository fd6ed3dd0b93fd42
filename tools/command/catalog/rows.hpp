// What is asked of rows that a user adds to the catalog.
#pragma once

#include <string_view>

#include <muster/select/catalog.hpp>

namespace muster::catalogs {

/// \throws std::runtime_error that names `origin`, the row and what was expected, where one lacks
/// what a row must have or declares what it does not have.
void require_complete(catalog rows, std::string_view origin);

/// \throws std::runtime_error that names both rows, where two of a collective have one id.
void require_own_names(catalog added, catalog there, std::string_view origin);

}  // namespace muster::catalogs
