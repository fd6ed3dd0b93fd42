#pragma once

#include <chrono>
#include <vector>

#include "tools/report/statistics.hpp"

namespace muster::measure {

class stopwatch {
public:
  double ns() const {
    return std::chrono::duration<double, std::nano>(clock::now() - start_).count();
  }

private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

/// What `work` takes: the median of `samples`, each of so many calls.
template <class Work>
double median_ns(int samples, int calls, Work work) {
  std::vector<double> each;
  for (int i = 0; i < samples; ++i) {
    const stopwatch watch;
    for (int k = 0; k < calls; ++k) work();
    each.push_back(watch.ns() / calls);
  }
  return bench::median(each);
}

}  // namespace muster::measure
