// A rank of `muster bench` on Gloo: `worker_gloo INTERFACE`, which `muster run` starts on several
// hosts. All ranks find each other through files in the folder of the benchmark's socket.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/bench/direct.hpp"
#include "tools/command/bench/worker.hpp"
#include "tools/library/launcher/muster_run.hpp"

namespace muster::bench {
namespace {

/// Which rank this is. \throws std::runtime_error
meeting whereabouts() {
  auto told = launcher::meet_by_muster_run();
  if (!told) throw std::runtime_error("`muster run --hosts` starts this program");
  return *told;
}

/// A folder that all ranks see. \throws std::runtime_error
std::filesystem::path shared_folder() {
  const char* const socket = environment::read(environment::bench_socket);
  if (socket == nullptr) throw std::runtime_error("`muster bench` starts this program");
  return std::filesystem::path(socket).parent_path();
}

/// Alike on a job's ranks, and another one for a job that is started anew.
std::string name_of_job(const meeting& job) {
  const auto& key = job.place.key.bytes;
  const std::string_view text(reinterpret_cast<const char*>(key.data()), sizeof key);
  return std::to_string(std::hash<std::string_view>()(text));
}

class gloo_library {
public:
  template <class T>
  using task = direct<T>;

  explicit gloo_library(const std::string& interface) : gloo_library(interface, whereabouts()) {}

  std::size_t rank() const { return static_cast<std::size_t>(context_->rank); }
  std::size_t size() const { return static_cast<std::size_t>(context_->size); }

  std::string version() const {
    return "Gloo " + std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) +
           "." + std::to_string(GLOO_VERSION_PATCH);
  }

  std::string choose(const order& job) {
    if (job.nonblocking) throw std::invalid_argument("nonblocking: Gloo has no such calls");
    if (std::ranges::find(usual_collectives, job.what) == usual_collectives.end()) {
      throw std::invalid_argument(std::string(name(job.what)) + ": not measured of Gloo");
    }
    type_ = job.how.type;
    return "default";
  }

  template <class T>
  T run(direct<T> loop) {
    return std::move(loop).result();
  }

  finished call(call_tag<collective::barrier>, const slot&) {
    auto options = options_for<gloo::BarrierOptions>();
    gloo::barrier(options);
    return {};
  }
  finished call(call_tag<collective::bcast>, const slot& on) {
    auto options = options_for<gloo::BroadcastOptions>();
    options.setOutput(on.send.data(), on.send.size());
    options.setRoot(root_rank);
    gloo::broadcast(options);
    return {};
  }
  finished call(call_tag<collective::reduce>, const slot& on) {
    auto options = options_for<gloo::ReduceOptions>();
    set_operands(options, on);
    options.setRoot(root_rank);
    gloo::reduce(options);
    return {};
  }
  finished call(call_tag<collective::allreduce>, const slot& on) {
    auto options = options_for<gloo::AllreduceOptions>();
    set_operands(options, on);
    gloo::allreduce(options);
    return {};
  }
  finished call(call_tag<collective::scatter>, const slot& on) {
    auto options = options_for<gloo::ScatterOptions>();
    if (rank() == root_rank) options.setInputs(blocks_of(on.send), on.recv.size());
    options.setOutput(on.recv.data(), on.recv.size());
    options.setRoot(root_rank);
    gloo::scatter(options);
    return {};
  }
  finished call(call_tag<collective::gather>, const slot& on) {
    auto options = options_for<gloo::GatherOptions>();
    options.setInput(on.send.data(), on.send.size());
    if (rank() == root_rank) options.setOutput(on.recv.data(), on.recv.size());
    options.setRoot(root_rank);
    gloo::gather(options);
    return {};
  }
  finished call(call_tag<collective::allgather>, const slot& on) {
    auto options = options_for<gloo::AllgatherOptions>();
    options.setInput(on.send.data(), on.send.size());
    options.setOutput(on.recv.data(), on.recv.size());
    gloo::allgather(options);
    return {};
  }
  finished call(call_tag<collective::alltoall>, const slot& on) {
    auto options = options_for<gloo::AlltoallOptions>();
    options.setInput(on.send.data(), on.send.size());
    options.setOutput(on.recv.data(), on.recv.size());
    gloo::alltoall(options);
    return {};
  }
  /// Those that `choose` refuses.
  template <collective What>
  finished call(call_tag<What>, const slot&) {
    throw std::logic_error(std::string(name(What)) + ": not measured of Gloo");
  }

private:
  gloo_library(const std::string& interface, const meeting& job)
      : context_(std::make_shared<gloo::rendezvous::Context>(static_cast<int>(job.rank),
                                                             static_cast<int>(job.size))) {
    gloo::transport::tcp::attr by;
    by.iface = interface;
    auto device = gloo::transport::tcp::CreateDevice(by);
    gloo::rendezvous::FileStore files(shared_folder());
    gloo::rendezvous::PrefixStore store(name_of_job(job), files);
    context_->connectFullMesh(store, device);
  }

  /// With a tag of their own: a rank may begin the next call before others have ended this one.
  template <class Options>
  Options options_for() {
    Options options(context_);
    options.setTag(tag_++);
    return options;
  }

  template <class Options>
  void set_operands(Options& options, const slot& on) const {
    with_element(type_, [&](auto element) {
      using type = decltype(element);
      constexpr std::size_t in_word = word_bytes / sizeof(type);
      options.setInput(reinterpret_cast<type*>(on.send.data()), on.send.size() * in_word);
      options.setOutput(reinterpret_cast<type*>(on.recv.data()), on.recv.size() * in_word);
      void (*const sum)(void*, const void*, const void*, std::size_t) = &gloo::sum<type>;
      options.setReduceFunction(sum);
    });
  }

  std::vector<double*> blocks_of(std::span<double> data) const {
    std::vector<double*> blocks;
    const std::size_t words = data.size() / size();
    for (std::size_t i = 0; i < size(); ++i) blocks.push_back(data.data() + i * words);
    return blocks;
  }

  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::uint32_t tag_ = 0;
  datatype type_ = datatype::float64;  ///< of what reductions combine
};

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("expected an interface");
    muster::bench::gloo_library library(argv[1]);
    muster::bench::serve(library);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "muster bench worker: %s\n", error.what());
    return 1;
  }
}
