// The measuring loop for ranks in Python: libworker_torch.so, which worker_torch.py calls and is
// called by.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/command/bench/direct.hpp"
#include "tools/command/bench/worker.hpp"

/// What a rank's library is called by. None of them returns where it fails: the process ends.
extern "C" struct muster_bench_calls {
  void (*choose)(const char* collective, const char* type);  ///< what `call` is from now on
  void (*call)(void* send, std::size_t send_bytes, void* receive, std::size_t receive_bytes);
  void (*barrier)();
};

namespace muster::bench {
namespace {

class torch_library {
public:
  template <class T>
  using task = direct<T>;

  torch_library(std::size_t rank, std::size_t size, std::string version, muster_bench_calls calls)
      : rank_(rank), size_(size), version_(std::move(version)), calls_(calls) {}

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }
  std::string version() const { return version_; }

  std::string choose(const order& job) {
    if (job.nonblocking) throw std::invalid_argument("nonblocking: not measured of torch");
    if (std::ranges::find(usual_collectives, job.what) == usual_collectives.end()) {
      throw std::invalid_argument(std::string(name(job.what)) + ": not measured of torch");
    }
    const datatype type = job.how.element_of(job.what);
    calls_.choose(name(job.what).data(), name_of_element(type).data());
    unchecked_ = job.warmups + job.calls;
    return "default";
  }

  template <class T>
  T run(direct<T> loop) {
    return std::move(loop).result();
  }

  finished call(call_tag<collective::barrier>, const slot&) {
    calls_.barrier();
    return {};
  }
  template <collective What>
  finished call(call_tag<What>, const slot& on) {
    constexpr bool combines = What == collective::allreduce || What == collective::reduce;
    if (!combines || unchecked_ != 0) {
      if (combines) --unchecked_;
      hand_over(on.send, on.recv);
    } else {
      call_apart(on, What == collective::allreduce || rank_ == std::size_t{root_rank});
    }
    return {};
  }

private:
  void hand_over(std::span<double> send, std::span<double> receive) const {
    calls_.call(send.data(), send.size_bytes(), receive.data(), receive.size_bytes());
  }

  /// torch combines in place; what a checked call sends is looked at afterwards, too.
  void call_apart(const slot& on, bool receives) {
    in_place_.assign(on.send.begin(), on.send.end());
    hand_over(in_place_, {});
    if (receives) std::ranges::copy(in_place_, on.recv.begin());
  }

  std::size_t rank_;
  std::size_t size_;
  std::string version_;
  muster_bench_calls calls_;
  std::size_t unchecked_ = 0;  ///< calls before those that are checked
  std::vector<double> in_place_;
};

}  // namespace
}  // namespace muster::bench

/// Serves the coordinator until it has no more orders. Not 0 where that fails, which has been said.
extern "C" [[gnu::visibility("default")]] int muster_bench_serve(int rank, int ranks,
                                                                 const char* version,
                                                                 muster_bench_calls calls) {
  try {
    muster::bench::torch_library library(static_cast<std::size_t>(rank),
                                         static_cast<std::size_t>(ranks), version, calls);
    muster::bench::serve(library);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "muster bench worker: %s\n", error.what());
    return 1;
  }
}
