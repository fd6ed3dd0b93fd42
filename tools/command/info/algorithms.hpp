// `muster info --algorithms`: the catalog, and what each row would cost.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include <muster/call/arguments.hpp>

namespace muster::cli {

/// What the costs are asked for.
struct costs_of {
  std::optional<collective> what;  ///< nothing: all
  std::string machine = "hdr100";  ///< a model for estimates, see simulator::find_model
  std::size_t nodes = 4;
  std::size_t ranks_a_node = 4;
  std::size_t bytes = 1024;
  std::filesystem::path catalog_file;  ///< adds to the algorithms that there are; empty: none
};

/// By its name; also those that only a program's own neighbors can be asked for.
/// \throws std::invalid_argument where there is none
collective parse_collective(const std::string& text);

/// For each row what it is, what it needs, its formula, the formula's figures, and the time that a
/// simulated call takes. \throws std::invalid_argument for an unknown machine; as
/// `extended_catalog`
std::string describe_algorithms(const costs_of& asked);

}  // namespace muster::cli
