// Thousands of teams, made and dropped: what they take is given back.

#include <dirent.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include <muster/muster.hpp>

#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Of this process; shared memory is counted where it is touched.
std::size_t resident_bytes() {
  const std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })> file(
      std::fopen("/proc/self/statm", "r"));
  unsigned long all = 0;
  unsigned long resident = 0;
  REQUIRE(std::fscanf(file.get(), "%lu %lu", &all, &resident) == 2);
  return resident * 4096;
}

std::size_t open_descriptors() {
  const std::unique_ptr<DIR, decltype([](DIR* directory) { ::closedir(directory); })> directory(
      ::opendir("/proc/self/fd"));
  std::size_t count = 0;
  while (::readdir(directory.get()) != nullptr) ++count;
  return count;
}

/// Uses flags, stages of all lengths and, across nodes, channels.
void use(team& of, bool long_too) {
  std::vector<int> values(long_too ? 60'000 : 5, 1);
  start(allreduce(of, values, sum)).wait();
  CHECK(values.back() == static_cast<int>(of.size()));
}

void make_and_drop(team& of, std::size_t teams) {
  random_stream random(derive(run_seed(), of.rank()));
  std::vector<std::unique_ptr<team>> kept;
  for (std::size_t i = 0; i < teams; ++i) {
    // Who is with whom changes.
    const auto color = static_cast<int>(of.rank() * (i % 3) % 4);
    auto made = start(split(of, color, 0)).wait();
    use(*made, i % 50 == 0);
    kept.push_back(std::move(made));
    while (kept.size() > 20 || (!kept.empty() && random.one_in(2))) {
      std::swap(kept[random.below(kept.size())], kept.back());
      kept.pop_back();
    }
  }
}

const std::vector<thread_options>& all_layouts() {
  static const std::vector<thread_options> all = {
      {}, {.share_address_space = false}, {.node_of = {0, 1, 0, 2}}};
  return all;
}

TEST_CASE("three thousand teams, some alive for a while, dropped in another order by each rank") {
  for (const thread_options& layout : all_layouts()) {
    const watchdog alive("many teams", std::chrono::seconds(300));
    INFO(how_to_replay());
    run_threads(
        4,
        [](team& of) {
          make_and_drop(of, rounds(300, 50));
          start(barrier(of)).wait();
          // One looks, since looking takes a descriptor, too.
          const std::size_t before = of.rank() == 0 ? resident_bytes() : 0;
          const std::size_t descriptors = of.rank() == 0 ? open_descriptors() : 0;
          start(barrier(of)).wait();
          make_and_drop(of, rounds(3000, 150));
          start(barrier(of)).wait();
          if (of.rank() == 0) {
            if (!sanitized) CHECK(resident_bytes() < before + 64 * mebibyte);
            CHECK(open_descriptors() == descriptors);
          }
          start(barrier(of)).wait();
        },
        layout);
  }
}

TEST_CASE("a thousand teams alive at once, all of them in use") {
  const watchdog alive("a thousand teams", std::chrono::seconds(300));
  for (const thread_options& layout : all_layouts()) {
    run_threads(
        4,
        [](team& of) {
          const std::size_t before = of.rank() == 0 ? resident_bytes() : 0;
          std::vector<std::unique_ptr<team>> all;
          for (std::size_t i = 0; i < rounds(1000, 100); ++i) {
            all.push_back(start(duplicate(of)).wait());
          }
          for (int round = 0; round < 2; ++round) {
            for (const auto& each : all) use(*each, false);
          }
          start(barrier(of)).wait();
          const std::size_t each = all.size() * of.size() * 64 * 1024;
          if (!sanitized) CHECK(resident_bytes() < before + each);
          start(barrier(of)).wait();
        },
        layout);
  }
}

TEST_CASE("thousands of teams for short runs alive at once") {
  const watchdog alive("teams for short runs", std::chrono::seconds(300));
  run_threads(2, [](team& of) {
    std::vector<std::unique_ptr<team>> all;
    for (std::size_t i = 0; i < rounds(3000, 300); ++i) {
      all.push_back(start(duplicate_for_runs(of, stage_kind::one_way)).wait());
    }
    for (const auto& each : all) use(*each, false);
    start(barrier(of)).wait();
  });
}

TEST_CASE("where no memory is left for runs, all ranks learn of it, and the team stays whole") {
  const watchdog alive("no memory for runs", std::chrono::seconds(300));
  run_threads(2, [](team& of) {
    std::vector<std::unique_ptr<team>> all;
    try {
      while (true) all.push_back(start(duplicate_for_runs(of, stage_kind::lengthy)).wait());
    } catch (const error& why) {
      CHECK(why.code() == errc::resource);
    }
    CHECK(all.size() > 3000);
    use(of, true);
    all.clear();
    start(barrier(of)).wait();
    use(*start(duplicate_for_runs(of, stage_kind::lengthy)).wait(), true);
  });
}

TEST_CASE("what a team says it takes") {
  run_threads(4,
              [](team& of) {
                const auto copy = start(duplicate(of)).wait();
                CHECK(copy->memory_bytes().memory > 2 * mebibyte);
                CHECK(copy->memory_bytes().memory < 5 * mebibyte);
                CHECK(copy->memory_bytes().memory < of.memory_bytes().memory / 3);
                CHECK(copy->memory_bytes().links < of.memory_bytes().links / 3);
                const auto runs = start(duplicate_for_runs(of, stage_kind::lengthy)).wait();
                CHECK(runs->memory_bytes().memory < 2 * mebibyte + mebibyte / 8);
                const auto short_runs = start(duplicate_for_runs(of, stage_kind::one_way)).wait();
                CHECK(short_runs->memory_bytes().memory < mebibyte / 8);
              },
              {.node_of = {0, 0, 1, 1}});
}

}  // namespace
}  // namespace muster::testing
