#pragma once

#include <algorithm>

namespace muster {

/// What something costs undisturbed, learnt from what it has cost each time, in any unit.
///
/// Much makes it cost more than it need: pages never touched, a core that was lost, a rank that
/// comes late. Nothing makes it cost less.
class learnt_cost {
public:
  bool is_known() const noexcept { return cost_ != 0; }
  /// Zero until it is known.
  double value() const noexcept { return cost_; }

  void learn(double cost) noexcept {
    constexpr double most_change = 4;
    constexpr double weight = 0.25;
    if (cost_ == 0 || cost < cost_) {
      cost_ = cost;
    } else {
      cost_ += weight * (std::min(cost, most_change * cost_) - cost_);
    }
  }

private:
  double cost_ = 0;
};

}  // namespace muster
