#include "tools/command/check/jobs.hpp"

#include <fmt/format.h>

#include <chrono>

#include "tools/command/shared/process.hpp"

namespace muster::check {
namespace {

bench::command command_for(const job_shape& shape, const std::filesystem::path& library,
                           std::span<const algorithm> rows) {
  const std::string self = std::filesystem::canonical("/proc/self/exe");
  bench::command all{{self, "run", "-n", std::to_string(shape.ranks), "--nodes",
                      std::to_string(shape.nodes), self, "check", "--as-rank"},
                     {}};
  if (!library.empty()) {
    all.arguments.insert(all.arguments.end(),
                         {"--catalog", std::filesystem::absolute(library).string()});
  }
  for (const algorithm& row : rows) {
    all.arguments.push_back(fmt::format("{}:{}", name(row.what), row.id));
  }
  return all;
}

}  // namespace

std::string run_job(const job_shape& shape, const std::filesystem::path& library,
                    std::span<const algorithm> rows) {
  constexpr std::chrono::minutes patience(10);  // each rank has less, for each row
  constexpr std::size_t most_lines = 12;
  const bench::temporary_folder folder("muster-check");
  const std::filesystem::path log = folder.path() / "log";
  process::child job = bench::start_logged(command_for(shape, library, rows), log);
  const auto ended = job.wait_for(patience);
  if (ended && ended->well()) return {};
  return fmt::format("a job of {} processes on {} nodes {}; it said last:\n{}\n", shape.ranks,
                     shape.nodes, ended ? ended->text() : "is running",
                     bench::last_lines(log, most_lines));
}

}  // namespace muster::check
