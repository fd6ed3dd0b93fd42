#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace muster::testing {

/// What went wrong, from any thread; empty when all is well. Keeps the first few.
class findings {
public:
  void add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    ++count_;
    if (kept_.size() < 8) kept_.push_back(what);
  }
  /// What was found so far, as lines of text, and forgets it.
  std::string take() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& line : kept_) text += line + "\n";
    if (count_ > kept_.size()) text += "and " + std::to_string(count_ - kept_.size()) + " more\n";
    kept_.clear();
    count_ = 0;
    return text;
  }

private:
  std::mutex mutex_;
  std::vector<std::string> kept_;
  std::size_t count_ = 0;
};

}  // namespace muster::testing
