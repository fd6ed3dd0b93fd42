#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include <muster/base/descriptor.hpp>

#include "tests/soak/memory_file.hpp"

namespace muster::testing {

/// What a job's ranks and whoever started them know of each other beside Muster, in memory that
/// outlives each of them. All times in ns of the steady clock; 0: not yet.
struct scores {
  std::array<std::atomic<std::int64_t>, 16> gone{};  ///< each rank's end by a fault
  std::array<std::atomic<bool>, 16> well{};          ///< each rank: all that it saw was right
  std::array<std::atomic<bool>, 16> left{};      ///< each rank: the same, and then its world ended
  std::array<std::atomic<pid_t>, 16> process{};  ///< each rank's
  std::array<std::atomic<std::uint64_t>, 16> host{};  ///< each rank's: a hash of its name
  /// Whether some rank has begun to break the team, and is there.
  std::atomic<bool> broken{};
  /// The longest time from a rank's end to an error that tells of it.
  std::atomic<std::int64_t> longest{};
  std::atomic<std::size_t> shrinks{};
};

inline std::int64_t steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

class scoreboard {
public:
  /// A new one.
  scoreboard() : file_(make_memory_file("scores")) {
    if (::ftruncate(file_.get(), sizeof(scores)) != 0) fail(errno, "scores");
    new (map()) scores;
  }
  /// That of another process. \param path see `path`
  explicit scoreboard(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (!file_) fail(errno, "scores");
    map();
  }
  ~scoreboard() { ::munmap(all_, sizeof(scores)); }
  scoreboard(const scoreboard&) = delete;
  scoreboard& operator=(const scoreboard&) = delete;

  std::string path() const { return path_of(file_); }
  scores& operator*() const noexcept { return *static_cast<scores*>(all_); }
  scores* operator->() const noexcept { return static_cast<scores*>(all_); }

private:
  void* map() {
    constexpr int access = PROT_READ | PROT_WRITE;
    all_ = ::mmap(nullptr, sizeof(scores), access, MAP_SHARED, file_.get(), 0);
    if (all_ == MAP_FAILED) fail(errno, "scores");
    return all_;
  }

  descriptor file_;
  void* all_ = nullptr;
};

}  // namespace muster::testing
