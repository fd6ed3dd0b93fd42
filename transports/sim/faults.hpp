#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "transports/sim/clock.hpp"

namespace muster::sim {

/// What goes wrong, at random from the simulation's seed.
struct faults {
  double delayed = 0;           ///< share of messages and flags that take longer
  double longest_delay_ns = 0;  ///< by up to this
  double repeated = 0;          ///< share of messages between nodes that arrive twice
  /// A process ends. What it has sent arrives.
  struct death {
    std::size_t rank;
    double at_ns;
  };
  std::vector<death> deaths = {};
  double noticed_after_ns = 10'000;  ///< a death, by the other ranks

  /// A host loses its power: all its ranks die at once, and nobody says so.
  struct host_death {
    std::size_t node;  ///< by number among the nodes that have ranks
    double at_ns;
  };
  std::vector<host_death> host_deaths = {};

  static constexpr std::size_t all_rails = ~std::size_t{0};
  static constexpr double for_ever = std::numeric_limits<double>::infinity();
  /// Nothing comes to a node or leaves it by a rail, or by any. What would waits until the rail is
  /// back; where the node has others, it goes by one of them after `resent_after_ns`.
  struct outage {
    std::size_t node;  ///< by number among the nodes that have ranks
    double from_ns;
    double until_ns = for_ever;
    std::size_t rail = all_rails;
  };
  std::vector<outage> outages = {};
  double resent_after_ns = 100'000;

  /// A rank does nothing for a time, and so do those that share its core.
  struct stop {
    std::size_t rank;
    double from_ns;
    double until_ns;
  };
  std::vector<stop> stops = {};

  /// Ranks of two nodes that do not hear of each other for so long hold each other for dead: each
  /// when it asks next, up to an eighth of that later. From then on nothing passes between the two.
  /// 0: they wait.
  double silence_ns = 0;
};

/// What the simulator itself does wrong: whoever looks for bugs must find each.
enum class defect {
  none,
  told_by_finder,      ///< only who finds a failure tells other nodes of it, not who goes on
  lost_on_one_side,    ///< a rank that is held for dead does not learn of that
  left_unheard,        ///< a rank is seen to have left before what it said is heard
  flags_overtake,      ///< a rank's flags become visible in any order
  survivors_break,     ///< a team of survivors is broken by what broke the job before
  lost_while_cut_off,  ///< what comes to a node that is out of reach is lost
};

/// \throws error where they make no sense for so many ranks, nodes and rails of each
void require_sense(const faults& wrong, std::size_t ranks, std::size_t nodes, std::size_t rails);

/// When something passes a node's rails.
class outages {
public:
  explicit outages(const faults& of);

  static constexpr picoseconds never = std::numeric_limits<picoseconds>::max();
  /// When what would pass a node by a rail, or any rail, at `when` does: then, or when it is back.
  /// \param rail `faults::all_rails`: whichever is there
  picoseconds passes(std::size_t node, std::size_t rail, picoseconds when) const noexcept;
  bool any() const noexcept { return !all_.empty(); }

private:
  struct outage {
    std::size_t node;
    std::size_t rail;
    picoseconds from;
    picoseconds until;
  };
  std::vector<outage> all_;
};

}  // namespace muster::sim
