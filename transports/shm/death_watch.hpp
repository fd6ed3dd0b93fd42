#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/shm/job.hpp"

namespace muster::shm {

/// Notices that a rank of this machine has ended without leaving, or is stopped while others wait
/// for it, for jobs whose ranks others than Muster started: breaks the job, for all ranks here.
/// Each rank's thread watches the process of the next one, and of those after it once that is gone,
/// so that each is watched by one that lives. While it is stopped, its watch is kept for it.
class death_watch {
public:
  /// \param of    outlives this
  /// \param self  this rank, which the process has joined as
  /// \param ranks as which they are known in the whole job
  /// \param stop  how long others put up with a stopped rank; 0: for ever
  /// \throws error `errc::resource`
  death_watch(const job& of, std::size_t self, std::vector<std::size_t> ranks,
              std::chrono::milliseconds stop);
  ~death_watch();
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;

private:
  /// \param watched the next rank's process, if it could be had
  void run(descriptor watched) const noexcept;
  /// The rank so many places after this one.
  std::size_t next(std::size_t apart) const noexcept { return (self_ + apart) % job_.size(); }
  descriptor open_process(std::size_t rank) const noexcept;
  /// Waits until it has left, its process has ended, or it is taken for lost; false where this
  /// object ends before, or nobody can tell.
  bool outlives(std::size_t rank, descriptor watched) const noexcept;
  /// Looks at those whom a rank that is stopped should watch.
  void watch_for(std::size_t stopped) const noexcept;
  bool has_ended(std::size_t rank) const noexcept;
  bool has_left(std::size_t rank) const noexcept;
  /// \param how it was lost, in words
  void note_loss(std::size_t rank, std::string_view how) const noexcept;

  const job& job_;
  std::size_t self_;
  std::vector<std::size_t> ranks_;
  std::chrono::milliseconds stop_;
  descriptor over_;  // readable once this object ends
  std::jthread thread_;
};

}  // namespace muster::shm
