// A rank of a job of processes that `muster check` started.
#pragma once

#include <span>

#include <muster/select/catalog.hpp>

namespace muster::check {

/// Calls the rows as one rank of the job that this process is in. What is wrong goes to the error
/// stream, and makes the exit status 1.
/// \param known what the ranks choose from; the rows are some of them
int run_rank(std::span<const algorithm> rows, catalog known);

}  // namespace muster::check
