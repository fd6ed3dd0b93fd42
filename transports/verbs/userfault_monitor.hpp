#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/verbs/memory_monitor.hpp"

namespace muster::verbs {

/// By userfaultfd, which tells of unmapped, moved and discarded pages. A thread that gives watched
/// memory back waits in the system until a thread of this one has read so: some microseconds.
///
/// Pages are watched as if for writes to protected ones, and none is ever protected: the program's
/// accesses stay what they are.
///
/// It can watch private memory that has no file, and since Linux 5.19 shared memory and huge pages.
/// It is not told of holes and ends of shared memory that are made by its descriptor, of detached
/// System V segments of huge pages, nor of guard pages (MADV_GUARD_INSTALL). Of discarded pages it
/// is told just before: whoever registers them meanwhile may register the old ones.
/// Nobody else can have userfaultfd watch the same memory.
class userfault_monitor final : public memory_monitor {
public:
  /// None where the system has no userfaultfd that can do it, or refuses it: errno says why.
  static std::unique_ptr<userfault_monitor> make();
  ~userfault_monitor() override;

  bool watch(const address_range& pages) noexcept override;
  void unwatch(const address_range& pages) noexcept override;
  news take() noexcept override;

private:
  /// So many are remembered one by one.
  static constexpr std::size_t room = 256;

  userfault_monitor(descriptor faults, descriptor bell);
  bool is_inherited() const noexcept;

  bool settles() noexcept;
  void unwatch_everything() noexcept;
  void end_thread() noexcept;

  // ---- the thread
  void run() noexcept;
  void read_all() noexcept;
  void note(const address_range& one) noexcept;

  descriptor faults_;
  descriptor bell_;  // rung when the thread is to end
  pid_t owner_;
  std::vector<std::size_t> page_sizes_;  // ascending
  bool has_watched_ = false;
  unsigned patience_;
  std::uint64_t seen_looks_ = 0;
  std::array<address_range, room> taken_;

  std::atomic<std::uint64_t> looks_ = 0;
  /// Whoever holds it neither allocates nor changes mappings: all who do wait for the thread.
  std::mutex lock_;
  std::size_t count_ = 0;  // locked, as what follows
  std::array<address_range, room> gone_;

  std::thread thread_;
};

}  // namespace muster::verbs
