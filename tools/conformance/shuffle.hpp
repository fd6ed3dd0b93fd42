#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <muster/base/random.hpp>

namespace muster::testing {

/// Puts them into any order, each as likely.
template <class T>
void shuffle(std::vector<T>& all, random_stream& random) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
}

}  // namespace muster::testing
