#pragma once

#include <span>

#include <muster/base/descriptor.hpp>
#include <muster/progress/progress_source.hpp>

namespace muster {

/// One descriptor for what wakes an engine: its doorbell, and its sources' own descriptors.
class wakeup_set {
public:
  /// \param bell    the doorbell's descriptor, or negative; outlives this, as the sources do
  /// \param more    whether sources may be added
  /// \throws error `errc::resource`
  wakeup_set(int bell, std::span<progress_source* const> sources, bool more = false);
  wakeup_set(const wakeup_set&) = delete;
  wakeup_set& operator=(const wakeup_set&) = delete;

  /// \throws error `errc::resource`
  void add(const progress_source& one);
  void remove(const progress_source& one) noexcept;

  /// Readable when one of them is. It stays the same; negative where there is none.
  int descriptor() const noexcept { return all_ ? all_.get() : bell_; }

private:
  int bell_;
  muster::descriptor all_;  // an epoll descriptor, where a source has a descriptor of its own
};

}  // namespace muster
