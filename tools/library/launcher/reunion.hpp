#pragma once

#include <mutex>

#include "tools/library/launcher/meeting.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/cluster/rendezvous.hpp"

namespace muster {

/// Meets the other ranks of a job where some have been started again, and makes the job anew with
/// them.
class reunion_attempt {
public:
  explicit reunion_attempt(const meeting& at) : at_(at) {}

  /// Waits until all have come. Where one fails meanwhile, all meet once more.
  /// \throws error `errc::bootstrap`, `errc::rank_left`
  cluster::bootstrapped run();
  /// From another thread: `run` throws, unless all have come and it returns.
  void abandon();
  /// Whether all have come, so that the others count on this one.
  bool is_bound();

private:
  class presence;
  cluster::bootstrapped meet();

  const meeting& at_;
  std::mutex guard_;  // of what follows
  cluster::rendezvous* among_ = nullptr;
  bool is_bound_ = false;
  bool is_abandoned_ = false;
};

}  // namespace muster
