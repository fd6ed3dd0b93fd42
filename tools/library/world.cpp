#include <muster/world.hpp>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include <muster/environment/environment.hpp>

#include "algos/catalog.hpp"
#include "tools/library/recording.hpp"
#include "tools/library/table.hpp"
#include "transports/shm/bootstrap.hpp"
#include "transports/shm/fabric.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/measure.hpp"

namespace muster {
namespace {

engine_options options_for(const shm::job& job, shm::fabric& fabric, const world_options& of) {
  engine_options options;
  options.mode = of.progress;
  options.processor = of.processor;
  const bool core_each = job.size() <= job.machine().processors;
  options.waiting = core_each ? waiting_policy::core_of_its_own() : waiting_policy::cores_shared();
  if (of.progress == progress::caller) options.waiting.when_idle = of.when_idle;
  options.sources = {fabric.source()};
  return options;
}

using folder = std::optional<std::filesystem::path>;

/// Where the environment wants arrivals recorded, for a job that is all this process's own.
folder prepare_folder_asked_for() {
  const folder asked = profile::folder_asked_for();
  return asked ? profile::prepare_folder(*asked) : asked;
}

/// What comes with Muster names Muster's own algorithms.
std::shared_ptr<const selection_table> table_of(catalog algorithms) {
  const bool own = algorithms.data() == default_algorithms().data();
  return own ? tune::table_for_made_up_nodes() : nullptr;
}

/// One rank: its fabric, engine and team, in the order in which they depend on each other.
class rank_parts {
public:
  /// \param arrivals where to record them, if anywhere
  rank_parts(const shm::job& job, std::size_t rank, const world_options& options,
             const folder& arrivals)
      : fabric_(job, rank),
        engine_(options_for(job, fabric_, options), doorbell::share(job.bell(rank))),
        team_(engine_, fabric_, job.shape(), rank, options.algorithms, job.machine()) {
    choose_from_environment(team_);
    if (auto table = tune::table_asked_for(table_of(options.algorithms))) {
      team_.select_by(std::move(table));
    }
    if (arrivals) recording_.emplace(team_, *arrivals);
  }
  // What still runs uses the team.
  ~rank_parts() { engine_.stop(); }
  rank_parts(const rank_parts&) = delete;
  rank_parts& operator=(const rank_parts&) = delete;

  muster::engine& engine() noexcept { return engine_; }
  muster::team& team() noexcept { return team_; }

private:
  shm::fabric fabric_;
  muster::engine engine_;
  muster::team team_;
  std::optional<profile::recording> recording_;
};

shm::job job_of_one() {
  shm::job_options options;
  options.places.emplace_back();
  options.one_process = true;
  return shm::job::create(options);
}

const machine& measured_for_threads() {
  static const machine measured = shm::measure(shm::ranks_are::threads);
  return measured;
}

/// Says that a rank ends because of an exception, before what it leaves undone says so less well.
void fail_rank(const shm::job& job, std::size_t rank, const std::string& what = {}) {
  job.fail({.code = errc::rank_died,
            .rank = rank,
            .text = "rank " + std::to_string(rank) + " ended with an exception" +
                    (what.empty() ? "" : ": " + what)});
}

shm::job join_or_alone() {
  auto joined = shm::job::join();
  environment::report_unknown(!joined);  // of the others `muster run` has said it
  return joined ? std::move(*joined) : job_of_one();
}

/// A job that nobody has prepared the folder for that the environment asks for.
shm::job make_job(bootstrap& with, const world_options& options) {
  try {
    if (with.rank() == 0) prepare_folder_asked_for();
  } catch (const error&) {
    // The recording will say so, too, when the others can be told.
  }
  const bool drives_itself = options.progress == progress::caller;
  const bool needs_rings = !drives_itself || options.when_idle == idling::sleeps;
  return shm::make_job(with, {.nobody_sleeps = !needs_rings});
}

}  // namespace

struct world::parts {
  /// \param arrivals where to record them, if anywhere
  parts(shm::job joined, const world_options& options, const folder& arrivals)
      : job(std::move(joined)) {
    try {
      rank.emplace(job, job.joined_as(), options, arrivals);
    } catch (const std::exception& why) {  // it could not even begin
      fail_rank(job, job.joined_as(), why.what());
      job.set_state(job.joined_as(), wire::liveness::left);
      throw;
    }
  }
  ~parts() {
    const std::size_t self = job.joined_as();
    if (std::uncaught_exceptions() > exceptions_before) {
      fail_rank(job, self);
    }
    rank->engine().stop();
    job.set_state(self, wire::liveness::left);
  }
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;

  static std::unique_ptr<parts> joined_or_alone(const world_options& options) {
    shm::job job = join_or_alone();
    const folder arrivals =
        job.size() > 1 ? profile::folder_asked_for() : prepare_folder_asked_for();
    return std::make_unique<parts>(std::move(job), options, arrivals);
  }

  shm::job job;
  std::optional<rank_parts> rank;
  int exceptions_before = std::uncaught_exceptions();
};

catalog default_algorithms() noexcept { return algos::catalog(); }

world::world(world_options options) : parts_(parts::joined_or_alone(options)) {}
world::world(bootstrap& with, world_options options)
    : parts_(
          std::make_unique<parts>(make_job(with, options), options, profile::folder_asked_for())) {
  environment::report_unknown(parts_->job.joined_as() == 0);
}
world::~world() {
  // Everything stays as it is: the others share it, and the engine's thread is not in this process.
  if (parts_->job.is_inherited()) static_cast<void>(parts_.release());
}
team& world::team() noexcept { return parts_->rank->team(); }
engine& world::engine() noexcept { return parts_->rank->engine(); }

namespace {

shm::job threads_job(std::size_t ranks, const thread_options& options) {
  if (ranks == 0) {
    throw error(errc::invalid_argument, "run_threads: ranks is 0; expected at least 1");
  }
  if (!options.node_of.empty() && options.node_of.size() != ranks) {
    throw error(errc::invalid_argument,
                "run_threads: node_of has " + std::to_string(options.node_of.size()) +
                    " entries; expected one for each of the " + std::to_string(ranks) + " ranks");
  }
  shm::job_options job;
  job.places.resize(ranks);
  for (std::size_t i = 0; i < options.node_of.size(); ++i) {
    job.places[i].node = static_cast<std::uint32_t>(options.node_of[i]);
  }
  job.measured = measured_for_threads();
  job.measured.foreign_by_hand = options.foreign_from;
  if (options.foreign_from != 0) job.measured.zero_copy_from = options.foreign_from;
  job.one_process = options.share_address_space;
  job.arena_bytes = std::size_t{64} << 20;
  return shm::job::create(job);
}

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

void run_rank(const shm::job& job, std::size_t rank, const std::function<void(team&)>& body,
              const thread_options& options, const folder& arrivals, first_failure& failure) {
  try {
    rank_parts parts(job, rank, {.progress = options.progress, .algorithms = options.algorithms},
                     arrivals);
    try {
      body(parts.team());
    } catch (const std::exception& why) {
      failure.keep(std::current_exception());
      fail_rank(job, rank, why.what());
    } catch (...) {
      failure.keep(std::current_exception());
      fail_rank(job, rank, "of unknown type");
    }
  } catch (const std::exception& why) {  // the rank could not even begin
    failure.keep(std::current_exception());
    fail_rank(job, rank, why.what());
  }
  job.set_state(rank, wire::liveness::left);
}

}  // namespace

void run_threads(std::size_t ranks, const std::function<void(muster::team&)>& rank,
                 const thread_options& options) {
  environment::report_unknown(true);
  const shm::job job = threads_job(ranks, options);
  const folder arrivals = prepare_folder_asked_for();
  first_failure failure;
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 0; i < ranks; ++i) {
        threads.emplace_back([&, i] { run_rank(job, i, rank, options, arrivals, failure); });
      }
    } catch (const std::exception& why) {  // those that run would wait for ever
      failure.keep(std::current_exception());
      fail_rank(job, threads.size(), why.what());
    }
  }
  failure.rethrow();
}

}  // namespace muster
