#pragma once

#include <span>

#include <muster/progress/progress_source.hpp>

namespace muster {

/// One descriptor for what wakes an engine: its doorbell, and its sources' own descriptors.
class wakeup_set {
public:
  /// \param bell    the doorbell's descriptor, or negative; outlives this, as the sources do
  /// \throws error `errc::resource`
  wakeup_set(int bell, std::span<progress_source* const> sources);
  ~wakeup_set();
  wakeup_set(const wakeup_set&) = delete;
  wakeup_set& operator=(const wakeup_set&) = delete;

  /// Readable when one of them is; negative where there is none.
  int descriptor() const noexcept { return all_ >= 0 ? all_ : bell_; }

private:
  int bell_;
  int all_ = -1;  // an epoll descriptor, where a source has a descriptor of its own
};

}  // namespace muster
