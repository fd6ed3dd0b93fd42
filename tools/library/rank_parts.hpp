#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include <muster/progress/clock_relation.hpp>
#include <muster/progress/engine.hpp>
#include <muster/run/team.hpp>
#include <muster/world.hpp>

#include "tools/library/recording.hpp"
#include "tools/library/why/report.hpp"
#include "transports/shm/job.hpp"

namespace muster {

using recording_folder = std::optional<std::filesystem::path>;

/// Where the environment wants arrivals recorded, for a job that is all this process's own.
recording_folder prepare_folder_asked_for();

/// By what the nodes of a job are joined: each has a table of its own.
enum class nodes_joined_by : std::uint8_t { memory, tcp, mpi };

/// What an engine and a team need of a job, whatever their fabric.
struct rank_place {
  const shm::job& here;  ///< of the ranks of this machine
  std::size_t index;     ///< this one's place among them
  const muster::shape& shape;
  std::size_t rank;
  const muster::machine& machine;
  std::size_t processors;  ///< for the ranks of this machine
  nodes_joined_by network = nodes_joined_by::memory;
  /// Of this machine, where there are several.
  std::optional<clock_relation> clock = {};
};

/// One rank: its engine and team on a fabric that outlives them, in the order in which they depend
/// on each other.
class rank_parts {
public:
  /// \param arrivals where to record them, if anywhere
  rank_parts(wire::fabric& reach, const rank_place& where, const world_options& options,
             const recording_folder& arrivals);
  // What still runs uses the team.
  ~rank_parts() { engine_.stop(); }
  rank_parts(const rank_parts&) = delete;
  rank_parts& operator=(const rank_parts&) = delete;

  muster::engine& engine() noexcept { return engine_; }
  muster::team& team() noexcept { return team_; }

private:
  why::reporting_recorder flight_;
  muster::engine engine_;
  muster::team team_;
  std::optional<profile::recording> recording_;
};

}  // namespace muster
