#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include <muster/team/machine.hpp>

namespace muster::sim {

/// What a cluster costs: the parameters of the simulator. Times are in nanoseconds, rates in bytes
/// per nanosecond (GB/s), sizes in bytes. Each field's JSON name is its C++ name, inside an object
/// named as its struct's member here; docs/models.md tells how to measure each.
struct model {
  std::string name;
  std::string description;
  /// Where each figure comes from: field ("network.latency_ns") to source.
  std::map<std::string, std::string> sources;

  struct cluster_parameters {
    std::size_t nodes = 1;              ///< that it has; a job may use fewer
    std::size_t ranks_a_node = 1;       ///< as the machine is used; a job may use others
    std::size_t cores_a_node = 1;       ///< ranks above this number share cores, round robin
    std::size_t cores_a_numa_node = 0;  ///< of a node's memory; 0: not known to the ranks
    std::size_t cores_a_cache = 0;      ///< of the last level; 0: not known to the ranks
  } cluster;

  /// Who moves the data of a put out of the sender's memory.
  enum class mover {
    core,  ///< the sender's core, at `core_push_gbs`: onload
    nic,   ///< the network interface, while the core goes on: offload
    both,  ///< the core up to `core_push_to_bytes`, the interface above
  };

  struct network_parameters {
    double latency_ns = 1000;          ///< wire and switches, from one interface to the other
    double send_overhead_ns = 100;     ///< of the sender's core, for each put
    double receive_overhead_ns = 100;  ///< of the receiver's core, for each put that it notices
    double gap_ns = 10;                ///< of an interface, at least, for each message
    double bandwidth_gbs = 10;         ///< of each rail, each way
    std::size_t rails = 1;             ///< interfaces (ports) of a node, usable at the same time
    std::size_t stripe_from_bytes = std::numeric_limits<std::size_t>::max();  ///< over all rails
    mover moved_by = mover::nic;
    double core_push_gbs = 1;            ///< where the core moves the data
    std::size_t core_push_to_bytes = 0;  ///< where both do
    std::size_t copy_to_bytes = 4096;    ///< up to here the core copies into registered memory
    std::size_t queue_pairs_cached = 0;  ///< by an interface; 0: all
    double queue_pair_miss_ns = 0;
  } network;

  /// How fast one core copies depends on where the buffers lie; each side of a copy takes half the
  /// time of one whose both sides lie there.
  struct memory_parameters {
    double core_copy_gbs = 8;  ///< both in the core's own cache
    double other_core_gbs =
        8;  ///< both in the cache of the core that wrote or read them last, another one
    double cache_copy_gbs = 8;    ///< both in the last-level cache
    double memory_read_gbs = 15;  ///< a side that is read, beyond the caches, by itself
    double memory_write_gbs = 8;  ///< a side that is written there, by itself
    double node_memory_gbs = 20;  ///< that all cores of a node copy together, beyond the caches
    double combine_gbs = 4;       ///< bytes that one core combines into a result
    double flag_ns = 100;         ///< a cache line from one core to another, one way
    double line_read_ns = 0;      ///< for which a core that reads another's line keeps both busy
    std::size_t core_cache_bytes = std::numeric_limits<std::size_t>::max();  ///< a core's own cache
    std::size_t cache_bytes = std::size_t{16} << 20;  ///< the last level, all of a node's
    double register_ns = 0;       ///< for memory that an interface is to read: the call
    double register_page_ns = 0;  ///< and each page of 4096 bytes
    double kernel_copy_gbs = 0;   ///< straight from another process's memory; 0: not possible
    double kernel_copy_call_ns = 0;
  } memory;

  struct core_parameters {
    double call_ns = 50;              ///< of a collective: entry, exit, all that is not work
    double copy_call_ns = 5;          ///< of each copy or combination, however short
    double switch_ns = 1000;          ///< giving the core up to the next of two ranks that share it
    double crowded_switch_ns = 1000;  ///< the same where eight or more share it
    double wake_ns = 5000;            ///< from waking a sleeper until it runs
    double system_call_ns = 300;      ///< for whoever wakes it
  } core;

  /// Each time a message or a flag takes is longer by a random share, at most this.
  double jitter = 0;

  /// \throws error `errc::invalid_argument` naming a figure that makes no sense.
  void require_sense() const;
};

/// \throws error `errc::invalid_argument` naming file, field and what was expected.
model read_model(const std::filesystem::path& file);
/// The same from text; `origin` is named in errors.
model parse_model(std::string_view text, std::string_view origin);
std::string to_json(const model& of);

/// What the ranks of such a cluster would have measured when their job began.
machine measured_by(const model& of);

}  // namespace muster::sim
