// Jobs of processes that call algorithms.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <muster/select/catalog.hpp>

namespace muster::check {

/// How many ranks, on how many made-up nodes.
struct job_shape {
  std::size_t ranks = 1;
  std::size_t nodes = 1;
};

/// Starts a job of this program's own processes, which call the rows, and waits for its end.
/// \returns what it said, where it did not end well; else nothing
std::string run_job(const job_shape& shape, const std::filesystem::path& library,
                    std::span<const algorithm> rows);

}  // namespace muster::check
