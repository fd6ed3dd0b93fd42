#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace muster::testing {

/// Ends the program with a message when its scope takes longer than it should: a test that hangs
/// says where.
class watchdog {
public:
  explicit watchdog(std::string what, std::chrono::seconds limit = default_limit());
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  static std::chrono::seconds default_limit();

private:
  void watch(std::chrono::seconds limit);

  std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace muster::testing
