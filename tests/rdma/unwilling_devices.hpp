// Replaces functions of libibverbs: for programs that ask for devices that refuse, and that break.
#pragma once

#include <infiniband/verbs.h>

#include "transports/verbs/device.hpp"

namespace muster::testing {

/// While it lives, a device makes no queue pair.
class unwilling_device {
public:
  explicit unwilling_device(const verbs::device& of);
  ~unwilling_device();
  unwilling_device(const unwilling_device&) = delete;
  unwilling_device& operator=(const unwilling_device&) = delete;

  /// How often it was asked to.
  int refusals() const noexcept;
};

/// The next thing that the device has to say of itself, or of its port 1.
void have_say(const verbs::device& of, ibv_event_type what);

}  // namespace muster::testing
