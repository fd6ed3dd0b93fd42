#include "tools/library/rank_parts.hpp"

#include <utility>

#include "algos/catalog.hpp"
#include "tools/library/table.hpp"

namespace muster {
namespace {

/// An engine's thread that waits for other machines shares the cores with computing threads: looks
/// and yields would lose it its turn. Within a machine what it waits for comes sooner than that.
waiting_policy waiting_for(progress by, const rank_place& where) {
  const std::size_t ranks = where.here.size();
  const bool waits_long = by == progress::thread && where.network == between_nodes::tcp;
  if (waits_long && 2 * ranks > where.processors) return waiting_policy::asleep();
  return ranks <= where.processors ? waiting_policy::core_of_its_own()
                                   : waiting_policy::cores_shared();
}

engine_options options_for(const wire::fabric& reach, const rank_place& where,
                           const world_options& of) {
  engine_options options;
  options.mode = of.progress;
  options.processor = of.processor;
  options.waiting = waiting_for(of.progress, where);
  if (of.progress == progress::caller) options.waiting.when_idle = of.when_idle;
  options.sources = {reach.source()};
  return options;
}

/// What comes with Muster names Muster's own algorithms.
std::shared_ptr<const selection_table> table_of(catalog algorithms, between_nodes network) {
  if (algorithms.data() != default_algorithms().data()) return nullptr;
  return network == between_nodes::tcp ? tune::table_for_tcp() : tune::table_for_made_up_nodes();
}

}  // namespace

catalog default_algorithms() noexcept { return algos::catalog(); }

recording_folder prepare_folder_asked_for() {
  const recording_folder asked = profile::folder_asked_for();
  return asked ? profile::prepare_folder(*asked) : asked;
}

rank_parts::rank_parts(wire::fabric& reach, const rank_place& where, const world_options& options,
                       const recording_folder& arrivals)
    : engine_(options_for(reach, where, options), doorbell::share(where.here.bell(where.index))),
      team_(engine_, reach, where.shape, where.rank, options.algorithms, where.machine) {
  choose_from_environment(team_);
  if (auto table = tune::table_asked_for(table_of(options.algorithms, where.network))) {
    team_.select_by(std::move(table));
  }
  if (arrivals) recording_.emplace(team_, *arrivals, where.clock);
}

}  // namespace muster
