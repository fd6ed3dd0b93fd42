// A rank of `muster bench` on Muster itself.
#include <cstdio>
#include <muster/muster.hpp>
#include <string>

#include "tools/bench/collective_of.hpp"
#include "tools/bench/worker.hpp"

namespace muster::bench {
namespace {

class muster_library {
public:
  template <class T>
  using task = muster::task<T>;

  std::size_t rank() const { return team_.rank(); }
  std::size_t size() const { return team_.size(); }
  std::string version() const { return "Muster"; }
  std::string algorithm(operation what, std::size_t bytes) const {
    arguments call;
    call.what = collective_of(what);
    call.type = datatype::float64;
    call.op = what == operation::reduce || what == operation::allreduce ? sum : reduction::none;
    call.root = root_rank;
    call.count = bytes / word_bytes;
    return std::string(chosen_algorithm(team_, call));
  }

  template <class T>
  T run(muster::task<T> loop) {
    return world_.run(std::move(loop));
  }

  decltype(auto) barrier() { return muster::barrier(team_); }
  decltype(auto) bcast(std::span<double> data) { return muster::bcast(team_, data, root_rank); }
  decltype(auto) reduce(std::span<const double> send, std::span<double> recv) {
    return muster::reduce(team_, send, recv, muster::sum, root_rank);
  }
  decltype(auto) allreduce(std::span<const double> send, std::span<double> recv) {
    return muster::allreduce(team_, send, recv, muster::sum);
  }
  decltype(auto) allgather(std::span<const double> send, std::span<double> recv) {
    return muster::allgather(team_, send, recv);
  }
  decltype(auto) alltoall(std::span<const double> send, std::span<double> recv) {
    return muster::alltoall(team_, send, recv);
  }

private:
  muster::world world_;
  muster::team& team_ = world_.team();
};

}  // namespace
}  // namespace muster::bench

int main() {
  try {
    muster::bench::muster_library library;
    muster::bench::serve(library);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "muster bench worker: %s\n", error.what());
    return 1;
  }
}
