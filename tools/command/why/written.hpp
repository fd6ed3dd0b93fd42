// What ranks have written of themselves, read again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tools/library/why/snapshot.hpp"

namespace muster::why {

struct written {
  std::string reason;  ///< for which the last file was written
  std::vector<seen_rank> ranks;
};

/// \throws std::runtime_error that says what is wrong
written parse(std::string_view json);

/// What all files of a folder have of one job, the last: of each rank what was seen last.
/// \throws std::runtime_error where there is nothing, or something is wrong with it
written read_folder(const std::filesystem::path& folder);

/// Each rank once, as it was seen last, in their order. Files that were written before the last job
/// began are of another.
std::vector<seen_rank> latest_of_each(std::vector<seen_rank> ranks);

}  // namespace muster::why
