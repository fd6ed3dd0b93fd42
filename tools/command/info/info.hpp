#pragma once

#include <string>

namespace muster::cli {

/// What Muster finds on this machine and would do with it, for people to read: topology, measured
/// figures, how messages are moved, the catalog.
std::string describe_machine();

/// Who would drive the operations of a program that is started now, and where.
std::string describe_progress();

}  // namespace muster::cli
