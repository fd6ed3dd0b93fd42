#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <muster/progress/clock_relation.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/progress_source.hpp>
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

/// Has an engine woken by another bell, too.
class second_bell final : public progress_source {
public:
  explicit second_bell(doorbell bell) noexcept : bell_(std::move(bell)) {}

  bool progress() noexcept override { return false; }
  int descriptor() const noexcept override { return bell_.descriptor(); }
  void arm() noexcept override {}
  void disarm() noexcept override { bell_.drain(); }

private:
  doorbell bell_;
};

/// What belongs to a rank, beside its fabric.
struct rank_options {
  const world_options& of_world;
  recording_folder arrivals = {};       ///< where to record them, if anywhere
  muster::engine* driven_by = nullptr;  ///< one that is there already, and takes more sources
  bool more_sources = false;            ///< its own engine takes more
  /// Its algorithms are Muster's own and, behind them, others: Muster's table chooses from them.
  bool begins_with_own = false;
};

/// One rank: its engine and team on a fabric that outlives them, in the order in which they depend
/// on each other.
class rank_parts {
public:
  rank_parts(wire::fabric& reach, const rank_place& where, const rank_options& options);
  // What still runs uses the team.
  ~rank_parts() { stop(); }
  rank_parts(const rank_parts&) = delete;
  rank_parts& operator=(const rank_parts&) = delete;

  /// Nothing drives it any more. An engine that was there already goes on with what is not its.
  void stop() noexcept;

  muster::engine& engine() noexcept { return engine_; }
  muster::team& team() noexcept { return *team_; }
  /// For whoever is to own it.
  std::unique_ptr<muster::team> release_team() noexcept { return std::move(team_); }

private:
  void join(wire::fabric& reach, const rank_place& where);

  why::reporting_recorder flight_;
  std::optional<muster::engine> own_engine_;
  muster::engine& engine_;
  std::optional<second_bell> bell_;      // with another's engine
  std::vector<progress_source*> added_;  // to that
  std::unique_ptr<muster::team> team_;
  std::optional<profile::recording> recording_;
};

}  // namespace muster
