// A rank of `muster bench` on Muster itself: `worker_muster [--catalog FILE.so]`.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <muster/muster.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <muster/environment/environment.hpp>

#include "tools/command/bench/uniform_blocks.hpp"
#include "tools/command/bench/worker.hpp"
#include "tools/command/catalog/catalog.hpp"
#include "tools/library/table.hpp"

namespace muster::bench {
namespace {

class muster_library {
public:
  template <class T = void>
  using task = muster::task<T>;

  explicit muster_library(const std::filesystem::path& added) : known_(added) {
    // The world has chosen one for Muster's own catalog, and has none for others.
    if (known_.added().size() == 0) return;
    if (auto table = tune::table_asked_for(tune::table_for_made_up_nodes())) {
      team_.select_by(std::move(table));
    }
  }

  std::size_t rank() const { return team_.rank(); }
  std::size_t size() const { return team_.size(); }
  std::string version() const { return "Muster " MUSTER_VERSION; }
  std::string choose(const order& job) {
    team_.choose(job.what, wanted_by(job));
    type_ = job.how.element_of(job.what);
    arguments call = call_of(job.what, job.bytes / size_of(type_), type_);
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
    return with_elements(on, [this](auto send, auto recv) {
      return muster::reduce(team_, send, recv, sum, root_rank);
    });
  }
  task<> call(call_tag<collective::allreduce>, const slot& on) {
    return with_elements(
        on, [this](auto send, auto recv) { return muster::allreduce(team_, send, recv, sum); });
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
    return with_elements(on, [this](auto send, auto recv) {
      return muster::reduce_scatter_block(team_, send, recv, sum);
    });
  }
  task<> call(call_tag<collective::scan>, const slot& on) {
    return with_elements(
        on, [this](auto send, auto recv) { return muster::scan(team_, send, recv, sum); });
  }
  task<> call(call_tag<collective::exscan>, const slot& on) {
    return with_elements(
        on, [this](auto send, auto recv) { return muster::exscan(team_, send, recv, sum); });
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
    return with_elements(on, [this](auto send, auto recv) {
      const block_layout blocks = blocks_of(recv.size());
      return muster::reduce_scatter(team_, send, blocks.counts, recv, sum);
    });
  }

private:
  /// Where the order leaves it to Muster, the environment may say.
  static std::string wanted_by(const order& job) {
    const std::string_view asked = job.asked.view();
    if (!asked.empty() && asked != automatic) return std::string(asked);
    const char* const id = environment::read(environment_name(job.what));
    return id == nullptr ? "" : id;
  }

  static std::span<const double> sent(const slot& on) { return on.send; }

  /// A reduction of a slot's buffers, taken for elements of the order's type.
  template <class Reduce>
  task<> with_elements(const slot& on, Reduce reduce) const {
    return with_element(type_, [&](auto element) {
      using type = decltype(element);
      constexpr std::size_t in_word = word_bytes / sizeof(type);
      const std::span send(reinterpret_cast<const type*>(on.send.data()), on.send.size() * in_word);
      const std::span recv(reinterpret_cast<type*>(on.recv.data()), on.recv.size() * in_word);
      return reduce(send, recv);
    });
  }

  block_layout blocks_of(std::size_t words) {
    blocks_.arrange(words, size());
    return {blocks_.counts(), blocks_.displacements()};
  }

  uniform_blocks<std::size_t> blocks_;
  datatype type_ = datatype::float64;
  catalogs::extended_catalog known_;
  muster::world world_{{.algorithms = known_.rows()}};
  muster::team& team_ = world_.team();
};

/// What `muster bench` says.
std::filesystem::path added_by(std::span<char* const> words) {
  if (words.size() == 1) return {};
  if (words.size() == 3 && std::string_view(words[1]) == "--catalog") return words[2];
  throw std::runtime_error("expected nothing, or --catalog FILE.so");
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  try {
    muster::bench::muster_library library(
        muster::bench::added_by({argv, static_cast<std::size_t>(argc)}));
    muster::bench::serve(library);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "muster bench worker: %s\n", error.what());
    return 1;
  }
}
