// Selection tables as files: what `muster tune` writes, and MUSTER_TABLE names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/collective/selection.hpp"

namespace muster::tune {

/// A table's text, for people to read and change:
///
///   {"measured": "16 ranks on 1 node, 2026-11-21",
///    "rules": [{"collective": "alltoall", "nodes": [1, 1], "ranks_a_node": [9, 24],
///               "bytes": [0, 512], "algorithm": "bruck:ports=2"}, …]}
///
/// Ranges include both ends; a second end of null is without end, and a range left out is any.
std::string to_json(const selection_table& table, std::string_view measured);

/// \throws error `errc::invalid_argument` naming the file, the rule and what was expected
selection_table read_table(const std::filesystem::path& file);
/// The same from text; `origin` is named in errors.
selection_table parse_table(std::string_view text, std::string_view origin);

}  // namespace muster::tune
