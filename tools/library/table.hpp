// Selection tables as files: what `muster tune` writes, and MUSTER_TABLE names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <muster/select/selection.hpp>

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

/// The tables that come with Muster, see tables/, for nodes that a fast network joins, that TCP
/// joins, or an MPI's messages, or that are made up on one machine.
std::shared_ptr<const selection_table> table_for_networks();
/// Beyond the nodes that were tried by TCP, or by an MPI, as for networks.
std::shared_ptr<const selection_table> table_for_tcp();
std::shared_ptr<const selection_table> table_for_mpi();
std::shared_ptr<const selection_table> table_for_made_up_nodes();
/// What the environment's MUSTER_TABLE names: a file, "none", or, where it is not set, `otherwise`.
/// Null for none. \throws as `read_table`
std::shared_ptr<const selection_table> table_asked_for(
    std::shared_ptr<const selection_table> otherwise);

}  // namespace muster::tune
