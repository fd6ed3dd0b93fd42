#pragma once

#include <algorithm>
#include <cstddef>

#include <muster/run/context.hpp>

namespace muster::algos {

/// Messages that a rank sends, and receives, at once: as many as chosen by hand, or as there are
/// rails.
inline std::size_t ports_of(context& me) {
  const std::size_t chosen = me.call().how.ports;
  return chosen != 0 ? chosen : me.machine().rails;
}

/// Messages that wait at once for their receivers: as many as chosen by hand, or so many that
/// hardly ever one that could go waits for one that cannot.
inline std::size_t ready_at_once(context& me) {
  constexpr std::size_t plenty = 64;
  const std::size_t chosen = me.call().how.ports;
  return chosen != 0 ? chosen : plenty;
}

/// The same for formulas.
inline std::size_t ports_of(const arguments& call) {
  return std::max<std::size_t>(call.how.ports, 1);
}

}  // namespace muster::algos
