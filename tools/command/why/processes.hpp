// Ranks found through their processes, which need not do anything for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/library/why/snapshot.hpp"

namespace muster::why {

/// The ranks of the job whose memory a file is, as under /proc; none where it cannot be opened.
/// \throws std::runtime_error where it is not such memory, or of another version of Muster
std::vector<seen_rank> read_ranks_in(const std::string& file);

/// The ranks of this machine in the jobs that a process, or one of those that it has started, has
/// memory of.
/// \throws std::runtime_error where there is no such process, no job, or several
std::vector<seen_rank> read_ranks_of(std::int64_t process);

}  // namespace muster::why
