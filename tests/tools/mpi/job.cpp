#include "tests/tools/mpi/job.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "tests/tools/mpi/accelerator.hpp"

namespace muster::testing {
namespace {

constexpr int most_complaints = 5;
constexpr unsigned time_limit = 60;  // seconds

/// What the rank is doing, for a signal handler to print.
std::array<char, 400>& doing() {
  static std::array<char, 400> text{};
  return text;
}

std::mutex& of_complaints() {
  static std::mutex one;
  return one;
}

void say_where(int signal) {
  const char* const text = doing().data();
  std::array<char, 500> line;
  const int length = std::snprintf(line.data(), line.size(), "%s: ended by signal %d%s\n", text,
                                   signal, signal == SIGALRM ? ", as it takes too long" : "");
  [[maybe_unused]] const auto written = ::write(2, line.data(), static_cast<std::size_t>(length));
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

std::uint64_t seed_from(const std::vector<std::string_view>& arguments) {
  for (const std::string_view text : arguments) {
    std::uint64_t given = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), given);
    if (code == std::errc{} && end == text.data() + text.size()) return given;
  }
  const auto time = std::chrono::system_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(time) % 1'000'000'007;
}

}  // namespace

job::job(int argc, char** argv, int thread_level) : arguments_(argv + 1, argv + argc) {
  if (has("multiple")) thread_level = MPI_THREAD_MULTIPLE;
  const std::string driver = value("driver");
  const bool is_late = has("late");
  if (is_late) accelerator::expect(driver);
  if (!driver.empty() && !is_late) accelerator::load(driver);
  if (thread_level == MPI_THREAD_SINGLE) {
    MPI_Init(nullptr, nullptr);
  } else {
    MPI_Init_thread(nullptr, nullptr, thread_level, &level_);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  seed_ = seed_from(arguments_);
  MPI_Bcast(&seed_, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (is_late) accelerator::load(driver);
  // Ranks' buffers are in different memories.
  accelerator::seed(seed_ + static_cast<std::uint64_t>(rank_) * 1000);
  now("start");
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) ::signal(signal, say_where);
  ::alarm(time_limit);
}

bool job::has(std::string_view word) const {
  return std::ranges::find(arguments_, word) != arguments_.end();
}

std::string job::value(std::string_view name) const {
  for (const std::string_view one : arguments_) {
    const bool is_it = one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=';
    if (is_it) return std::string(one.substr(name.size() + 1));
  }
  return {};
}

void job::now(std::string_view what) {
  std::snprintf(doing().data(), doing().size(), "rank %d of %d, seed %llu: %.*s", rank_, size_,
                static_cast<unsigned long long>(seed_), static_cast<int>(what.size()), what.data());
}

void job::complain(const std::string& text) {
  const std::scoped_lock one(of_complaints());
  if (++complaints_ > most_complaints) return;
  std::fprintf(stderr, "%s: %s\n", doing().data(), text.c_str());
}

int job::finish() {
  now("MPI_Finalize");
  MPI_Finalize();
  return complaints_ == 0 ? 0 : 1;
}

}  // namespace muster::testing
