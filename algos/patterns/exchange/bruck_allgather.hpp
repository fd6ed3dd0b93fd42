#pragma once

#include <algorithm>
#include <cstddef>

#include <muster/run/context.hpp>

namespace muster::algos {

/// What a rank sends in Bruck's allgather to the rank a `distance` back, and receives from the one
/// a distance on: so many blocks.
struct bruck_exchange {
  std::size_t distance;
  std::size_t blocks;
};

/// The exchanges of the step that finds every rank with `held` of `all` blocks: k at once. The next
/// one finds it with k+1 times as many.
inline pooled_list<bruck_exchange> bruck_step(std::size_t held, std::size_t all,
                                              std::size_t ports) {
  pooled_list<bruck_exchange> step;
  for (std::size_t distance = held; distance < all && step.size() < ports; distance += held) {
    step.push_back({distance, std::min(held, all - distance)});
  }
  return step;
}

/// The k-port allgather of Bruck for blocks of any lengths, which all ranks know:
/// ⌈log N⌉ steps, to base k+1, and a shift.
task<> bruck_allgather(context& me, const arguments& call);

}  // namespace muster::algos
