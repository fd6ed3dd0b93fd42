// A rank of `muster bench` on Muster itself.
#include <cstdio>
#include <cstdlib>
#include <muster/muster.hpp>
#include <string>

#include "tools/bench/uniform_blocks.hpp"
#include "tools/bench/worker.hpp"

namespace muster::bench {
namespace {

class muster_library {
public:
  template <class T = void>
  using task = muster::task<T>;

  std::size_t rank() const { return team_.rank(); }
  std::size_t size() const { return team_.size(); }
  std::string version() const { return "Muster"; }
  std::string choose(const order& job) {
    team_.choose(job.what, wanted_by(job));
    arguments call = call_of(job.what, job.bytes / word_bytes);
    const block_layout blocks = blocks_of(call.count);
    lay_out(call, rank(), blocks);
    return std::string(chosen_algorithm(team_, call));
  }

  template <class T>
  T run(muster::task<T> loop) {
    return world_.run(std::move(loop));
  }

  task<> call(call_tag<collective::barrier>, const slot&) { return muster::barrier(team_); }
  task<> call(call_tag<collective::bcast>, const slot& on) {
    return muster::bcast(team_, on.send, root_rank);
  }
  task<> call(call_tag<collective::reduce>, const slot& on) {
    return muster::reduce(team_, sent(on), on.recv, sum, root_rank);
  }
  task<> call(call_tag<collective::allreduce>, const slot& on) {
    return muster::allreduce(team_, sent(on), on.recv, sum);
  }
  task<> call(call_tag<collective::scatter>, const slot& on) {
    return muster::scatter(team_, sent(on), on.recv, root_rank);
  }
  task<> call(call_tag<collective::gather>, const slot& on) {
    return muster::gather(team_, sent(on), on.recv, root_rank);
  }
  task<> call(call_tag<collective::allgather>, const slot& on) {
    return muster::allgather(team_, sent(on), on.recv);
  }
  task<> call(call_tag<collective::alltoall>, const slot& on) {
    return muster::alltoall(team_, sent(on), on.recv);
  }
  task<> call(call_tag<collective::reduce_scatter_block>, const slot& on) {
    return muster::reduce_scatter_block(team_, sent(on), on.recv, sum);
  }
  task<> call(call_tag<collective::scan>, const slot& on) {
    return muster::scan(team_, sent(on), on.recv, sum);
  }
  task<> call(call_tag<collective::exscan>, const slot& on) {
    return muster::exscan(team_, sent(on), on.recv, sum);
  }
  task<> call(call_tag<collective::scatterv>, const slot& on) {
    const block_layout blocks = blocks_of(on.recv.size());
    return muster::scatterv(team_, sent(on), blocks, on.recv, root_rank);
  }
  task<> call(call_tag<collective::gatherv>, const slot& on) {
    const block_layout blocks = blocks_of(on.send.size());
    return muster::gatherv(team_, sent(on), on.recv, blocks, root_rank);
  }
  task<> call(call_tag<collective::allgatherv>, const slot& on) {
    const block_layout blocks = blocks_of(on.send.size());
    return muster::allgatherv(team_, sent(on), on.recv, blocks);
  }
  task<> call(call_tag<collective::alltoallv>, const slot& on) {
    const block_layout blocks = blocks_of(on.send.size() / size());
    return muster::alltoallv(team_, sent(on), blocks, on.recv, blocks);
  }
  task<> call(call_tag<collective::reduce_scatter>, const slot& on) {
    const block_layout blocks = blocks_of(on.recv.size());
    return muster::reduce_scatter(team_, sent(on), blocks.counts, on.recv, sum);
  }

private:
  /// Where the order leaves it to Muster, the environment may say.
  static std::string wanted_by(const order& job) {
    const std::string_view asked = job.asked.view();
    if (!asked.empty() && asked != automatic) return std::string(asked);
    const char* const id = std::getenv(environment_name(job.what).c_str());
    return id == nullptr ? "" : id;
  }

  static std::span<const double> sent(const slot& on) { return on.send; }

  block_layout blocks_of(std::size_t words) {
    blocks_.arrange(words, size());
    return {blocks_.counts(), blocks_.displacements()};
  }

  uniform_blocks<std::size_t> blocks_;
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
