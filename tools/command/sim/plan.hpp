// What `muster sim` is to run, and what came of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algos/catalog.hpp"
#include "tools/command/bench/measured.hpp"
#include "tools/command/shared/arrivals.hpp"
#include "tools/library/table.hpp"
#include "transports/sim/clock.hpp"
#include "transports/sim/model.hpp"

namespace muster::simulator {

using bench::automatic;

/// The ranks and how they are measured; the same at all points.
struct job {
  sim::model model;
  std::size_t nodes = 1;
  std::size_t ranks_a_node = 1;
  std::size_t calls = 5;  ///< after one to warm up
  std::uint64_t seed = 1;
  std::optional<arrivals::pattern> late;                 ///< nothing: all come together
  std::optional<std::chrono::nanoseconds> message_time;  ///< of `late`; nothing: the model's
  bool payload = true;                                   ///< where it fits
  bool look_on = false;  ///< ranks never sleep where each has a core: see `sim::options`
  /// For `automatic`; null: none.
  std::shared_ptr<const selection_table> table = tune::table_for_networks();
  bool traced = false;
  catalog rows = algos::catalog();  ///< that the ranks have; outlives the job

  std::size_t ranks() const { return nodes * ranks_a_node; }
};

/// How long a message of so many bytes takes from one rank to another that waits for it, to another
/// node if there is one: the unit of late arrivals.
std::chrono::nanoseconds message_time(const job& how, std::size_t bytes);

/// One simulation.
struct point {
  collective what = collective::barrier;
  std::size_t bytes = 0;  ///< whole message; per block for allgather and alltoall
  std::string asked;      ///< an algorithm's id, or `automatic`
};

/// What ranks did in one call, on average over the calls.
struct work {
  double sends = 0;  ///< messages posted to other nodes
  double sent_bytes = 0;
  double node_sends = 0;  ///< messages within the node, through channels
  double node_bytes = 0;
  double shared_written = 0;  ///< bytes into the node's shared memory
  double shared_read = 0;
  double connections = 0;  ///< pairs of ranks, a sender's node to another; of all calls
  double memory = 0;       ///< bytes of stages and channels that were used; by all calls
};

/// What came of a point.
struct result {
  point at;
  std::string algorithm;  ///< that ran; empty if none did
  bool suits = true;      ///< whether the algorithm that was asked for can run this
  bool payload = false;   ///< whether buffers held anything
  bool verified = false;  ///< every element of every call; with payload
  std::string failure;    ///< why there are no figures
  bool deadlock = false;

  std::vector<double> times_us;  ///< a call each
  double median_us = 0;
  std::optional<std::int64_t> message_time_ns;  ///< where ranks came late

  work all;                         ///< of all ranks
  work busiest_node;                ///< each figure of the node where it is largest
  std::vector<double> waiting_us;   ///< a rank each: for others, a call
  sim::picoseconds virtual_time{};  ///< that passed
  std::uint64_t events = 0;
  double host_s = 0;
  std::string trace;  ///< JSON, where the job is to be traced

  bool has_figures() const { return !times_us.empty(); }
  bool is_wrong() const { return has_figures() && payload && !verified; }
};

}  // namespace muster::simulator
