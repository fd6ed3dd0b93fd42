#pragma once

#include <cstddef>
#include <thread>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/shm/job.hpp"

namespace muster::shm {

/// Notices that a rank of this machine has ended without leaving, for jobs whose ranks others than
/// Muster started: breaks the job, for all ranks here. Each rank's thread watches the process of
/// the next one, and of those after it once that has ended or left, so that each is watched by one
/// that lives.
class death_watch {
public:
  /// \param of    outlives this
  /// \param self  this rank, which the process has joined as
  /// \param ranks as which they are known in the whole job
  /// \throws error `errc::resource`
  death_watch(const job& of, std::size_t self, std::vector<std::size_t> ranks);
  ~death_watch();
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;

private:
  /// \param watched the next rank's process, if it could be had
  void run(descriptor watched) const noexcept;
  /// The rank so many places after this one.
  std::size_t next(std::size_t apart) const noexcept { return (self_ + apart) % job_.size(); }
  descriptor open_process(std::size_t rank) const noexcept;
  /// Waits until it has left or its process has ended; false where this object ends before, or
  /// nobody can tell.
  bool outlives(std::size_t rank, descriptor watched) const noexcept;
  bool has_left(std::size_t rank) const noexcept;
  void note_end(std::size_t rank) const noexcept;

  const job& job_;
  std::size_t self_;
  std::vector<std::size_t> ranks_;
  descriptor over_;  // readable once this object ends
  std::jthread thread_;
};

}  // namespace muster::shm
