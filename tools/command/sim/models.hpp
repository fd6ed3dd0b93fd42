// The machine models that come with Muster, inside the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "transports/sim/model.hpp"

namespace muster::simulator {

/// A file of transports/sim/models: its name without `.json`, and its text.
struct embedded_model {
  std::string_view name;
  std::string_view text;
};

/// By name.
std::span<const embedded_model> embedded_models() noexcept;

/// The name that means the machine it runs on, measured when asked for.
inline constexpr std::string_view this_machine = "this";

/// The model of this name, or from this file, whose name ends in `.json`. Throws
/// std::invalid_argument that lists the names there are, or says what is wrong with the file.
sim::model find_model(std::string_view name_or_file);

/// All names, with a comma and a space between them.
std::string model_names();

/// A line a model: name, nodes and ranks, description.
std::string list_models();

}  // namespace muster::simulator
