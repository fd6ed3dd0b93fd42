#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "engine/collective/arguments.hpp"
#include "engine/coro/task.hpp"
#include "engine/team/machine.hpp"
#include "engine/team/order.hpp"
#include "engine/team/shape.hpp"

namespace muster {

class context;

/// What a call costs each node of a team of equal ones.
struct node_cost {
  /// Posted to other nodes by all its ranks. Each may be cut into pieces of 32 KiB, or, where it
  /// goes in place, need an invitation.
  std::size_t messages = 0;
  std::size_t bytes = 0;        ///< in them
  std::size_t connections = 0;  ///< pairs of a rank here that sends and one elsewhere that receives
  std::size_t memory = 0;       ///< that its ranks stage in, beside their buffers, in bytes

  friend bool operator==(const node_cost&, const node_cost&) = default;
};

/// A team of equal nodes.
struct even_nodes {
  std::size_t nodes = 1;         ///< n in formulas
  std::size_t ranks_a_node = 1;  ///< p
};

/// One row of the catalog: an algorithm for a collective.
struct algorithm {
  std::string_view id;  ///< unique within its collective
  collective what;
  std::string_view summary;                         ///< one line, for people
  std::string_view source;                          ///< where it comes from
  std::string_view needs = "any ranks, any sizes";  ///< what `suits` asks for, for people
  /// What it costs a node, for people: n nodes of p ranks, blocks of m bytes, k ports, g groups.
  std::string_view formula = {};
  /// The same as figures; null where there is no formula. Blocks are `call.bytes()`, or, where all
  /// ranks know their lengths, as `call.receive_blocks` says; `call.how` is what it says, with 0
  /// for one port and one group.
  node_cost (*costs)(const even_nodes&, const arguments& call) = nullptr;
  bool has_ports = false;   ///< whether `tuning::ports` means something to it
  bool has_groups = false;  ///< whether `tuning::groups` does
  /// Whether it can run this call on this team. A pure function of facts that are the same on
  /// every rank.
  bool (*suits)(const shape&, const machine&, const arguments&);
  /// Where it suits, whether it is to be chosen before those after it; not asked where it is chosen
  /// by hand. Pure likewise; null: always.
  bool (*pays)(const shape&, const machine&, const arguments&) = nullptr;
  /// The stages it uses for this call; pure likewise.
  stage_kind (*stages)(const shape&, const machine&, const arguments&);
  /// One rank's part of the operation.
  task<> (*run)(context&, const arguments&);
};

/// An algorithm, and how it is to run.
struct choice {
  const algorithm* row = nullptr;
  tuning how;
};

/// The algorithms an engine was given, the preferred one first within each collective.
using catalog = std::span<const algorithm>;

}  // namespace muster
