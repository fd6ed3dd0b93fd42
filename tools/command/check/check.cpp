#include "tools/command/check/check.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <span>
#include <stdexcept>

#include <muster/environment/environment.hpp>

#include "tools/command/catalog/catalog.hpp"
#include "tools/command/check/jobs.hpp"
#include "tools/command/check/rank.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/rows.hpp"

namespace muster::check {
namespace {

/// `allgather:ring`
std::string name_of(const algorithm& row) { return fmt::format("{}:{}", name(row.what), row.id); }

bool is_named(const algorithm& row, const std::string& text) {
  return row.id == text || name_of(row) == text;
}

std::string names_of(catalog rows) {
  std::string all;
  for (const algorithm& row : rows) all += (all.empty() ? "" : ", ") + name_of(row);
  return all;
}

/// The ranks of the worlds, as threads and under virtual time.
constexpr std::array<std::size_t, 6> rank_counts = {1, 2, 3, 5, 8, 9};
constexpr std::array<job_shape, 5> job_shapes = {{{2, 1}, {5, 1}, {4, 2}, {3, 3}, {7, 3}}};

/// What came of a row in all worlds of one kind.
struct tally {
  std::size_t worlds = 0;
  std::size_t calls = 0;
  std::string wrong;  ///< of the first world where something was

  bool is_right() const { return wrong.empty() && calls > 0; }
};

template <class Run>
tally try_worlds(Run run) {
  tally all;
  for (const testing::world_case& world : testing::worlds(rank_counts)) {
    testing::row_outcome one = run(world);
    ++all.worlds;
    all.calls += one.calls;
    all.wrong = std::move(one.wrong);
    if (!all.wrong.empty()) break;
  }
  return all;
}

class check_run {
public:
  check_run(const std::filesystem::path& library, std::span<const algorithm> rows, catalog known)
      : library_(library), rows_(rows), known_(known) {}

  int run() {
    for (const algorithm& row : rows_) {
      if (is_right_alone(row)) right_.push_back(row);
    }
    const bool jobs_right = right_.empty() || are_right_in_jobs();
    const bool all_right = jobs_right && right_.size() == rows_.size();
    if (all_right) {
      fmt::print("{} algorithm{}: all right\n", rows_.size(), rows_.size() == 1 ? "" : "s");
    }
    return all_right ? 0 : 1;
  }

private:
  /// In this process.
  bool is_right_alone(const algorithm& row) const {
    const auto simulate = [&](const testing::world_case& world) {
      return testing::simulate_row(row, known_, world, testing::simulate(world));
    };
    const auto with_threads = [&](const testing::world_case& world) {
      return testing::run_row(row, known_, world);
    };
    // First where a deadlock is named and a read that comes too early is seen.
    return is_right(row, "under virtual time", try_worlds(simulate)) &&
           is_right(row, "threads", try_worlds(with_threads));
  }

  static bool is_right(const algorithm& row, std::string_view how, const tally& found) {
    fmt::print("{:<28} {:<20} ", name_of(row), how);
    if (found.is_right()) {
      fmt::print("{} calls on {} teams: right\n", found.calls, found.worlds);
    } else if (found.wrong.empty()) {
      fmt::print("suits none of the calls; expected some of {} to {} ranks\n", rank_counts.front(),
                 rank_counts.back());
    } else {
      fmt::print("WRONG\n{}", found.wrong);
    }
    std::fflush(stdout);
    return found.is_right();
  }

  /// With a process for each rank.
  bool are_right_in_jobs() const {
    bool right = true;
    for (const job_shape& shape : job_shapes) {
      const std::string wrong = run_job(shape, library_, right_);
      fmt::print("{:<28} {:<20} {}\n", "these",
                 fmt::format("{} processes, {} node{}", shape.ranks, shape.nodes,
                             shape.nodes == 1 ? "" : "s"),
                 wrong.empty() ? "right" : "WRONG\n" + testing::how_to_replay() + "\n" + wrong);
      std::fflush(stdout);
      right = right && wrong.empty();
    }
    return right;
  }

  const std::filesystem::path& library_;
  std::span<const algorithm> rows_;
  catalog known_;
  std::vector<algorithm> right_;  ///< in this process
};

/// For this process and those that it starts.
void set_seed(const options& wanted) {
  if (wanted.seed) ::setenv(environment::test_seed.name, std::to_string(*wanted.seed).c_str(), 1);
  ::setenv(environment::test_seed.name, std::to_string(testing::run_seed()).c_str(), 1);
}

/// Long buffers are made and freed for each call: memory that goes back to the system each time
/// takes half of the time.
void keep_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  ::mallopt(M_TOP_PAD, 64 << 20);
}

int run_or_throw(const options& wanted) {
  keep_memory();
  const catalogs::extended_catalog known(wanted.catalog_file);
  const std::vector<algorithm> rows =
      rows_named(wanted.names, wanted.catalog_file.empty() ? known.rows() : known.added());
  if (wanted.as_rank) return run_rank(rows, known.rows());
  set_seed(wanted);
  return check_run(wanted.catalog_file, rows, known.rows()).run();
}

}  // namespace

std::vector<algorithm> rows_named(const std::vector<std::string>& names, catalog among) {
  std::vector<algorithm> rows;
  for (const std::string& text : names) {
    const std::size_t before = rows.size();
    std::ranges::copy_if(among, std::back_inserter(rows),
                         [&](const algorithm& row) { return is_named(row, text); });
    if (rows.size() > before) continue;
    throw std::runtime_error(
        fmt::format("'{}' is not an algorithm; there are: {}", text, names_of(among)));
  }
  if (names.empty()) rows.assign(among.begin(), among.end());
  return rows;
}

int run(const options& wanted) {
  try {
    return run_or_throw(wanted);
  } catch (const std::exception& why) {
    fmt::print(stderr, "muster check: {}\n", why.what());
    return 1;
  }
}

}  // namespace muster::check
