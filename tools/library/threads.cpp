#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>
#include <muster/world.hpp>

#include "tools/library/job_rank.hpp"
#include "transports/cluster/network.hpp"
#include "transports/shm/measure.hpp"
#include "transports/tcp/footprint.hpp"
#include "transports/tcp/rails.hpp"

namespace muster {
namespace {

const machine& measured_for_threads() {
  static const machine measured = shm::measure(shm::ranks_are::threads);
  return measured;
}

std::vector<place> places_for(std::size_t ranks, const thread_options& options) {
  if (ranks == 0) {
    throw error(errc::invalid_argument, "run_threads: ranks is 0; expected at least 1");
  }
  if (!options.node_of.empty() && options.node_of.size() != ranks) {
    throw error(errc::invalid_argument,
                "run_threads: node_of has " + std::to_string(options.node_of.size()) +
                    " entries; expected one for each of the " + std::to_string(ranks) + " ranks");
  }
  if (options.connections == 0 || options.connections > tcp::reach::most_connections) {
    throw error(errc::invalid_argument,
                "run_threads: connections is " + std::to_string(options.connections) +
                    "; expected 1 to " + std::to_string(tcp::reach::most_connections));
  }
  std::vector<place> places(ranks);
  for (std::size_t i = 0; i < options.node_of.size(); ++i) {
    places[i].node = static_cast<std::uint32_t>(options.node_of[i]);
  }
  return places;
}

shm::job make_machine(std::vector<place> places, const thread_options& options) {
  shm::job_options job;
  job.places = std::move(places);
  job.measured = measured_for_threads();
  job.measured.foreign_by_hand = options.foreign_from;
  if (options.foreign_from != 0) job.measured.zero_copy_from = options.foreign_from;
  job.one_process = options.share_address_space;
  job.arena_bytes = std::size_t{64} << 20;
  return shm::job::create(job);
}

// ---- what ranks are threads of

/// A job whose ranks are threads of this process.
class threads_job {
public:
  virtual ~threads_job() = default;
  /// Called by the rank's own thread.
  virtual std::unique_ptr<job_rank> make_rank(std::size_t rank, const world_options& options,
                                              const recording_folder& arrivals) = 0;
  /// Breaks the job, since a rank has no thread.
  virtual void fail(const wire::failure& why) noexcept = 0;
};

class memory_job final : public threads_job {
public:
  memory_job(std::vector<place> places, const thread_options& options)
      : job_(make_machine(std::move(places), options)) {}

  std::unique_ptr<job_rank> make_rank(std::size_t rank, const world_options& options,
                                      const recording_folder& arrivals) override {
    return make_job_rank(job_, rank, {options, arrivals});
  }
  void fail(const wire::failure& why) noexcept override { job_.fail(why); }

private:
  shm::job job_;
};

/// Between machines: below, a copy more costs less than asking.
constexpr std::size_t zero_copy_from = std::size_t{32} << 10;

/// Each made-up node has memory of its own, as machines do.
class tcp_job final : public threads_job {
public:
  tcp_job(const std::vector<place>& places, const thread_options& options)
      : places_(places), key_(tcp::job_key::random()), connections_(options.connections) {
    const shape all(places);
    const std::size_t window =
        tcp::window_within(shm::link_memory_asked_for(), places.size(), connections_);
    const tcp::address anywhere = tcp::address::resolve("127.0.0.1", 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
      listeners_.push_back(tcp::listen_at(anywhere));
      addresses_.push_back(listeners_.back().at);
      node_of_.push_back(all.node_of(i));
    }
    for (std::size_t node = 0; node < all.nodes(); ++node) {
      shm::job here = make_machine(std::vector<place>(all.ranks_of(node).size()), options);
      // The same on all ranks: that of the first.
      machine measured = node == 0 ? here.machine() : nodes_.front().machine();
      if (node == 0) {
        measured.zero_copy_from = zero_copy_from;
        measured.message_piece = std::min(measured.message_piece, window / 2);
      }
      nodes_.emplace_back(std::move(here), places, places[all.ranks_of(node).front()].node,
                          measured);
    }
  }

  std::unique_ptr<job_rank> make_rank(std::size_t rank, const world_options& options,
                                      const recording_folder& arrivals) override {
    const cluster::job& of = nodes_[node_of_[rank]];
    cluster::network by{.how = {.rank = rank,
                                .key = key_,
                                .window = 2 * of.machine().message_piece,
                                .reactor = tcp::chosen_reactor()},
                        .doors = {},
                        .peers = std::vector<tcp::paths>(places_.size())};
    by.doors.push_back(std::move(listeners_[rank]));
    for (std::size_t peer = 0; peer < places_.size(); ++peer) {
      if (!of.is_here(peer)) by.peers[peer].assign(connections_, {0, addresses_[peer]});
    }
    return make_job_rank(of, {rank, cluster::reach_by(std::move(by))}, {options, arrivals});
  }
  void fail(const wire::failure& why) noexcept override {
    for (const cluster::job& each : nodes_) each.here().fail(why);
  }

private:
  std::vector<place> places_;
  tcp::job_key key_;
  std::size_t connections_;
  std::vector<tcp::listener> listeners_;
  std::vector<tcp::address> addresses_;  // where these listen
  std::vector<std::size_t> node_of_;
  std::vector<cluster::job> nodes_;
};

std::unique_ptr<threads_job> make_job(std::size_t ranks, const thread_options& options) {
  std::vector<place> places = places_for(ranks, options);
  if (options.network == between_nodes::tcp) return std::make_unique<tcp_job>(places, options);
  return std::make_unique<memory_job>(std::move(places), options);
}

// ---- running them

/// The exception of the rank that failed first.
class first_failure {
public:
  void keep(std::exception_ptr failure) noexcept {
    if (!taken_.exchange(true)) first_ = std::move(failure);
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

private:
  std::atomic<bool> taken_{false};
  std::exception_ptr first_;
};

void run_rank(job_rank& rank, const std::function<void(team&)>& body, first_failure& failure) {
  try {
    body(rank.parts().team());
  } catch (const std::exception& why) {
    failure.keep(std::current_exception());
    rank.fail(why.what());
  } catch (...) {
    failure.keep(std::current_exception());
    rank.fail("of unknown type");
  }
}

}  // namespace

void run_threads(std::size_t ranks, const std::function<void(muster::team&)>& body,
                 const thread_options& options) {
  environment::report_unknown(true);
  const std::unique_ptr<threads_job> job = make_job(ranks, options);
  const recording_folder arrivals = prepare_folder_asked_for();
  const world_options each{.progress = options.progress, .algorithms = options.algorithms};
  first_failure failure;
  const auto run = [&](std::size_t rank) {
    try {
      run_rank(*job->make_rank(rank, each, arrivals), body, failure);
    } catch (...) {  // it could not even begin
      failure.keep(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 0; i < ranks; ++i) threads.emplace_back([&run, i] { run(i); });
    } catch (const std::exception& why) {  // those that run would wait for ever
      failure.keep(std::current_exception());
      job->fail(
          {.code = errc::rank_died,
           .rank = threads.size(),
           .text = "rank " + std::to_string(threads.size()) + " has no thread: " + why.what()});
    }
  }
  failure.rethrow();
}

}  // namespace muster
