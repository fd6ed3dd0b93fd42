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

/// One row of the catalog: an algorithm for a collective.
struct algorithm {
  std::string_view id;  ///< unique within its collective
  collective what;
  std::string_view summary;  ///< one line, for people
  std::string_view source;   ///< where it comes from
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

/// The algorithms an engine was given, the preferred one first within each collective.
using catalog = std::span<const algorithm>;

}  // namespace muster
