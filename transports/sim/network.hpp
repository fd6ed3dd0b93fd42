#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/sim/clock.hpp"
#include "transports/sim/model.hpp"

namespace muster::sim {

/// The queue pairs whose state a network interface holds: a set-associative cache, the least
/// recently used of a set of eight going first. Without a capacity, it holds all.
class queue_pair_cache {
public:
  explicit queue_pair_cache(std::size_t capacity);
  /// Uses the queue pair of two ranks; whether it was there.
  bool use(std::uint64_t pair) noexcept;

private:
  std::size_t ways_;
  std::size_t sets_;
  std::vector<std::uint64_t> held_;  // by set, the most recently used first; 0: nothing
};

/// The network interfaces of one node: its rails, each of which sends and receives one message
/// after the other.
class node_interfaces {
public:
  explicit node_interfaces(const model::network_parameters& of);

  /// When a message begins and ends on its way through one side of the interfaces.
  struct passage {
    picoseconds begins;
    picoseconds ends;
  };
  passage send(picoseconds now, std::uint64_t pair, std::size_t bytes, std::size_t rail);
  passage receive(picoseconds now, std::uint64_t pair, std::size_t bytes, std::size_t rail);

  /// The rail for the next message: round robin; `all_rails` for one to be striped.
  std::size_t choose_rail(std::size_t bytes) noexcept;
  /// The next one, whatever the message.
  std::size_t next_rail() noexcept;
  static constexpr std::size_t all_rails = ~std::size_t{0};

private:
  /// Sends and receives at the same time, with one cache for both.
  struct rail {
    queue_pair_cache cache;
    picoseconds sending_free = 0;
    picoseconds receiving_free = 0;
  };
  enum class way { out, in };
  passage pass(way which, picoseconds now, std::uint64_t pair, std::size_t bytes,
               std::size_t on_rail);
  passage pass_one(rail& on, way which, picoseconds now, std::uint64_t pair, std::size_t bytes);

  const model::network_parameters& of_;
  picoseconds gap_;
  picoseconds miss_;
  std::vector<rail> rails_;
  std::size_t next_rail_ = 0;
};

}  // namespace muster::sim
