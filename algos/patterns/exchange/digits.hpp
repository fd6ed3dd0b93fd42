#pragma once

#include <algorithm>
#include <cstddef>

/// Numbers whose digit of some weight, a power of the base, is the same.
namespace muster::algos {

/// The one after `number` that has the same digit; the least is the digit times its weight.
constexpr std::size_t next_alike(std::size_t number, std::size_t weight, std::size_t base) {
  const std::size_t next = number + 1;
  return next % weight != 0 ? next : next + (base - 1) * weight;
}

/// How many below `end` have the digit `least / weight`.
constexpr std::size_t count_alike(std::size_t end, std::size_t least, std::size_t weight,
                                  std::size_t base) {
  const std::size_t period = base * weight;
  const std::size_t rest = end % period;
  return end / period * weight + std::min(weight, rest - std::min(rest, least));
}

}  // namespace muster::algos
