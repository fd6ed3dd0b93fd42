#pragma once

#include <string>

namespace muster::shm {

/// The first line of one of the small files by which the system tells something; empty where there
/// is none. (A program's first stream costs it more than the reading.)
std::string first_line(const std::string& file);

}  // namespace muster::shm
