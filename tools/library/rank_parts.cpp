#include "tools/library/rank_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <muster/progress/affinity.hpp>
#include <muster/team/topology.hpp>

#include "algos/catalog.hpp"
#include "tools/library/table.hpp"

namespace muster {
namespace {

/// An engine's thread that waits for other machines shares the cores with computing threads: looks
/// and yields would lose it its turn. Within a machine what it waits for comes sooner than that.
waiting_policy waiting_for(progress by, const rank_place& where) {
  const std::size_t ranks = where.here.size();
  const bool waits_long = by == progress::thread && where.network != nodes_joined_by::memory;
  if (waits_long && 2 * ranks > where.processors) return waiting_policy::asleep();
  return ranks <= where.processors ? waiting_policy::core_of_its_own()
                                   : waiting_policy::cores_shared();
}

/// Processors of cores that no rank of this machine is bound to.
std::vector<int> spare_processors(const rank_place& where) {
  std::vector<int> spare;
  const std::span<const std::size_t> here = where.shape.ranks_of(where.shape.node_of(where.rank));
  const topology machine = topology::read(topology::of::machine);
  for (const core& each : machine.cores()) {
    const bool is_taken = std::ranges::any_of(here, [&](std::size_t rank) {
      const std::uint32_t bound = where.shape.place_of(rank).core;
      return bound == place::unknown || bound == each.where.core;
    });
    if (!is_taken && bound_for_now(each.processor)) spare.push_back(each.processor);
  }
  return spare;
}

bool has_unbound_ranks(const rank_place& where) {
  const std::span<const std::size_t> here = where.shape.ranks_of(where.shape.node_of(where.rank));
  return std::ranges::any_of(
      here, [&](std::size_t rank) { return where.shape.place_of(rank).core == place::unknown; });
}

/// For a thread of its own for each rank; none where there are too few.
std::vector<int> spare_processor(const rank_place& where) {
  const std::vector<int> spare = spare_processors(where);
  if (spare.size() < where.here.size()) return {};
  return {spare[where.index]};
}

std::vector<int> near_processors(const rank_place& where) {
  std::vector<int> near;
  const std::uint32_t numa = where.shape.place_of(where.rank).numa;
  const topology machine = topology::read(topology::of::machine);
  for (const core& each : machine.cores()) {
    const bool is_near = numa == place::unknown || each.where.numa == numa;
    if (is_near && bound_for_now(each.processor)) near.push_back(each.processor);
  }
  return near;
}

void place_thread(engine_options& options, const rank_place& where, const world_options& of) {
  if (of.progress != progress::thread) return;
  if (of.processor >= 0) {
    options.processors = {of.processor};
  } else if (of.thread_on == thread_place::numa) {
    options.processors = near_processors(where);
  } else if (of.thread_on != thread_place::any) {
    options.processors = spare_processor(where);
    const bool any_may_do = has_unbound_ranks(where) && where.processors >= 2 * where.here.size();
    const bool needs_spare = of.thread_on == thread_place::spare_or_none && !any_may_do;
    if (options.processors.empty() && needs_spare) options.progress = progress::caller;
  }
}

engine_options options_for(const wire::fabric& reach, const rank_place& where,
                           const rank_options& asked) {
  const world_options& of = asked.of_world;
  engine_options options;
  options.progress = of.progress;
  place_thread(options, where, of);
  options.waiting = waiting_for(options.progress, where);
  if (options.progress == progress::caller) options.waiting.when_idle = of.when_idle;
  options.sources = {reach.source()};
  options.more_sources = asked.more_sources;
  return options;
}

/// What comes with Muster names Muster's own algorithms, and under an MPI the MPI's.
std::shared_ptr<const selection_table> table_of(const rank_options& options,
                                                nodes_joined_by network) {
  const bool is_own = options.of_world.algorithms.data() == default_algorithms().data();
  if (!is_own && !options.begins_with_own) return nullptr;
  if (network == nodes_joined_by::tcp) return tune::table_for_tcp();
  if (network == nodes_joined_by::mpi) return tune::table_for_mpi();
  return tune::table_for_made_up_nodes();
}

}  // namespace

catalog default_algorithms() noexcept { return algos::catalog(); }

recording_folder prepare_folder_asked_for() {
  const recording_folder asked = profile::folder_asked_for();
  return asked ? profile::prepare_folder(*asked) : asked;
}

rank_parts::rank_parts(wire::fabric& reach, const rank_place& where, const rank_options& options)
    : flight_(where.here, where.index, where.rank, where.shape.size()),
      engine_(options.driven_by != nullptr
                  ? *options.driven_by
                  : own_engine_.emplace(options_for(reach, where, options),
                                        doorbell::share(where.here.bell(where.index)))) {
  try {
    if (!own_engine_) join(reach, where);
    const catalog algorithms = options.of_world.algorithms;
    team_ = std::make_unique<muster::team>(engine_, reach, where.shape, where.rank, algorithms,
                                           where.machine);
    team_->keep_flight_record(flight_);
    choose_from_environment(*team_);
    if (auto table = tune::table_asked_for(table_of(options, where.network))) {
      team_->select_by(std::move(table));
    }
    if (options.arrivals) recording_.emplace(*team_, *options.arrivals, where.clock);
  } catch (...) {
    stop();
    throw;
  }
}

void rank_parts::join(wire::fabric& reach, const rank_place& where) {
  bell_.emplace(doorbell::share(where.here.bell(where.index)));
  added_.reserve(2);
  for (progress_source* const source : {reach.source(), static_cast<progress_source*>(&*bell_)}) {
    engine_.add_source(*source);
    added_.push_back(source);
  }
}

void rank_parts::stop() noexcept {
  if (own_engine_) return own_engine_->stop();
  for (progress_source* const source : added_) engine_.remove_source(*source);
  added_.clear();
}

}  // namespace muster
