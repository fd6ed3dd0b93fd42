// Muster's algorithms, as commands let people ask for them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/select/catalog.hpp>

#include "tools/command/bench/measured.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace muster::bench {

/// `pairwise,bruck:ports=2,groups=2,auto` as three: a part with an equals sign but no colon is an
/// option of the one before it. Each once. Throws std::invalid_argument.
std::vector<std::string> parse_algorithms(std::string_view text);

/// Those of the algorithms asked for that the catalog has for the collective; all have `automatic`.
std::vector<std::string> algorithms_of(catalog rows, collective what,
                                       std::span<const std::string> asked);

/// Throws std::runtime_error where none of the collectives has an algorithm, naming those that they
/// have, or where one has no such option.
void require_algorithms(catalog rows, std::span<const std::string> asked,
                        std::span<const collective> whats);

/// Adds `--algorithms` to a command; `set` is given what was asked for.
CLI::Option* add_algorithms_option(CLI::App& command,
                                   std::function<void(std::vector<std::string>)> set);

}  // namespace muster::bench
