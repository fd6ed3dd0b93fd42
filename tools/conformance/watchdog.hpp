#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "tools/conformance/random.hpp"

namespace muster::testing {

/// Ends the program with a message when its scope takes longer than it should: a test that hangs
/// says where. The limit is for hangs alone: a machine that has much else to do is no reason.
class watchdog {
public:
  /// \param replay what to do to see it again
  explicit watchdog(std::string what, std::chrono::seconds limit = std::chrono::seconds(100),
                    std::string replay = how_to_replay());
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

private:
  void watch(std::chrono::seconds limit);

  std::string what_;
  std::string replay_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace muster::testing
