#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include <muster/wire/membership.hpp>

namespace muster::sim {

/// Why a team, or the job, is broken, as the ranks of one node see it.
class failure_record {
public:
  const std::atomic<std::uint32_t>& word() const noexcept { return word_; }
  const std::optional<wire::failure>& why() const noexcept { return why_; }
  /// False where it is broken already.
  bool fail(const wire::failure& why) {
    if (why_) return false;
    why_ = why;
    end();
    return true;
  }
  /// Nobody goes on, for no reason of its own.
  void end() noexcept {
    // relaxed: one thread.
    word_.store(1, std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint32_t> word_{0};
  std::optional<wire::failure> why_;
};

}  // namespace muster::sim
