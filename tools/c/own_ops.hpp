#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <muster/call/reduction.hpp>

namespace muster::c {

/// Reductions that a program has made, by number.
class own_ops {
public:
  static constexpr int first = 256;
  /// Numbers that have nothing to do with `MUSTER_IN_ARRIVAL_ORDER`.
  static constexpr std::size_t most = (std::size_t{1} << 24) - first;

  /// \param limit how many may be alive at once
  explicit own_ops(std::size_t limit = most) noexcept : limit_(limit) {}

  /// \returns its number
  /// \throws error `errc::resource` where there are too many
  int add(std::shared_ptr<const custom_reduction> op);
  /// Its number is free again. \param number of one that is there
  void remove(int number);
  /// Null where there is none of this number.
  std::shared_ptr<const custom_reduction> find(int number) const;

private:
  std::size_t limit_;
  std::vector<std::shared_ptr<const custom_reduction>> all_;  // null: the number is free
  std::vector<int> free_;
};

}  // namespace muster::c
