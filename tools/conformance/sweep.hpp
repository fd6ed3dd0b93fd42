#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/muster.hpp>

#include "tools/conformance/checked_call.hpp"
#include "tools/conformance/contents.hpp"
#include "tools/conformance/findings.hpp"
#include "tools/conformance/random.hpp"

namespace muster::testing {

// ---- what ranks there are

/// How made-up nodes share out the ranks.
enum class layout { one_node, even, uneven, scattered, node_each };
inline constexpr layout layouts[] = {layout::one_node, layout::even, layout::uneven,
                                     layout::scattered, layout::node_each};
std::string_view name(layout nodes);
std::vector<std::size_t> node_of(layout nodes, std::size_t ranks);

/// How long messages move between ranks of a node; in the last, nodes are joined by TCP.
enum class movement { lent, staged, foreign, tcp };
inline constexpr movement movements[] = {movement::lent, movement::staged, movement::foreign,
                                         movement::tcp};
std::string_view name(movement data);

/// A team to be made of threads.
struct world_case {
  std::size_t ranks = 1;
  layout nodes = layout::one_node;
  movement data = movement::lent;
};
std::string describe(const world_case& world);
thread_options options_for(const world_case& world);

/// 1 … 9, 16 and 17, or fewer under sanitizers.
std::span<const std::size_t> rank_counts();
/// Every world of these ranks, none twice: small ones leave nothing to share out.
std::vector<world_case> worlds(std::span<const std::size_t> ranks,
                               std::span<const layout> nodes = layouts,
                               std::span<const movement> data = movements);
/// The same, but data moves in one way a world, in turn: over as many turns that follow each other
/// as there are ways, in all.
std::vector<world_case> worlds_in_turn(std::span<const std::size_t> ranks, std::uint64_t turn,
                                       std::span<const layout> nodes = layouts);
/// One of 1 … `largest` ranks.
world_case random_world(random_stream& random, std::size_t largest);

// ---- what they call

/// Every collective of all ranks with `count` elements (those of neighbors: see neighbors.hpp):
/// with and without in place, with every root or, for long ones, the first, the last and one
/// between.
void append_every_collective(std::vector<spec>& calls, std::size_t ranks, std::size_t count,
                             datatype moved, datatype reduced, reduction op);
/// The same with each of the counts, bytes where they are only moved; seeds from the run's.
std::vector<spec> all_calls(std::size_t ranks, std::span<const std::size_t> counts,
                            datatype reduced, reduction op);
/// The calls of a row that it says it can run, of many sizes; seeds from the run's.
std::vector<spec> calls_for(const algorithm& row, const team& of);
/// The rows to be tested: the whole catalog but for collectives of neighbors, or those that
/// MUSTER_TEST_ROWS names, as in "alltoall:bruck allgather:" (all of allgather's).
std::vector<algorithm> tested_rows();
/// What to choose a row by: its id, or, where it has options, the id with some.
std::vector<std::string> choices_of(const algorithm& row);
/// One of them at random.
spec random_call(std::uint64_t seed, std::size_t ranks, std::size_t largest_count);
std::vector<spec> random_calls(std::uint64_t seed, std::size_t ranks, std::size_t how_many,
                               std::size_t largest_count);
/// Has each call run by one of the algorithms that suit it, at random, the same on every rank.
void choose_algorithms(std::vector<spec>& calls, const team& of, std::uint64_t seed);
/// Gives each call contents of its own.
void give_seeds(std::vector<spec>& calls, std::uint64_t seed);

// ---- how they call it

struct conduct {
  /// Operations in flight at once.
  std::size_t in_flight = 1;
  /// Whether ranks come late, at random, and wait for what is in flight in random order.
  bool unpunctual = false;
  /// Whether what is in flight is awaited by one `when_all` instead of through futures.
  bool together = false;
  memory buffers = memory::own;
  std::uint64_t seed = 0;
  /// Each operation's deadline after it began.
  std::optional<clock_time> limit = {};
  /// How often what is in flight together is run, with new contents each time: where more than
  /// once, most calls of a rank through plans.
  std::size_t runs = 1;
  /// Whether each call is run by any algorithm that suits it instead of the one that is chosen for
  /// it: see `choose_algorithms`.
  bool any_algorithm = false;
};

/// One at random; operations in flight beyond the number of lanes, too.
conduct random_conduct(random_stream& random);

/// More operations in flight than there are lanes, by all algorithms: what comes of a seed. Every
/// other time none but one root receives anything, so that the others can be far ahead of it.
struct crowd {
  conduct how;
  std::vector<spec> calls;
};
crowd random_crowd(std::uint64_t seed, std::size_t ranks);

/// How a rank comes late: awaited where an unpunctual one may.
using lateness = std::function<task<>(random_stream&)>;
/// In real time, by as much as the system's clock and scheduler make of it.
task<> come_late(random_stream& random);

/// One rank's part of all calls, checked as far as they complete. Where some fail, throws what the
/// first of them failed with, when all have ended. Its arguments outlive it.
task<> make_calls(team& of, std::span<const spec> calls, const conduct& how, findings& found,
                  const lateness& pause);
/// The same for a thread or process, which it blocks.
void make_calls(team& of, std::span<const spec> calls, const conduct& how, findings& found);

/// All ranks of a world of threads make the calls. What went wrong, or nothing.
std::string run_world(const world_case& world, std::span<const spec> calls, const conduct& how);

}  // namespace muster::testing
