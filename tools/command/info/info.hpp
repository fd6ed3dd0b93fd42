#pragma once

#include <string>

namespace muster::cli {

/// What Muster finds on this machine and would do with it, for people to read: topology, measured
/// figures, how messages are moved, the catalog.
std::string describe_machine();

}  // namespace muster::cli
